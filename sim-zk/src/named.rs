//! Enums with named variants, each name written once.

/// Defines an enum whose variants have names: `ALL`, `name` and `from_name`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $of:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        pub enum $of { $($(#[$about])* $variant,)+ }

        impl $of {
            /// Every variant, in order.
            pub const ALL: [$of; [$($name),+].len()] = [$($of::$variant),+];

            /// Returns the name, as on the command line and in files.
            pub const fn name(self) -> &'static str {
                match self { $($of::$variant => $name),+ }
            }

            /// Returns the variant with that name.
            pub fn from_name(name: &str) -> Option<$of> {
                match name { $($name => Some($of::$variant),)+ _ => None }
            }
        }
    };
}
