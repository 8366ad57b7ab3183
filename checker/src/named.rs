//! Enums whose variants have names: one definition for JSON, the text form, the command line and reports.

/// An enum with a name for each variant.
pub(crate) trait Named: Copy + 'static {
    /// The end of the parse error, as in `"x" is not an outcome`.
    const WANTED: &'static str;

    /// See the inherent method of that name.
    fn name(self) -> &'static str;

    /// See the inherent method of that name.
    fn from_name(name: &str) -> Option<Self>;
}

/// Defines enums whose variants have names. The text behind an enum's name ends its parse error.
macro_rules! named {
    ($(
        $(#[$meta:meta])*
        pub enum $of:ident = $wanted:literal {
            $($(#[$about:meta])* $variant:ident = $name:literal,)+
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $of {
            $($(#[$about])* #[serde(rename = $name)] $variant,)+
        }

        impl $of {
            /// Every variant, in order.
            pub const ALL: &'static [$of] = &[$($of::$variant),+];

            /// The name in the written forms of a history, and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($of::$variant => $name),+ }
            }

            /// The name with spaces between its words.
            pub fn words(self) -> String {
                self.name().replace('_', " ")
            }

            /// The variant of a name.
            pub fn from_name(name: &str) -> Option<$of> {
                match name { $($name => Some($of::$variant),)+ _ => None }
            }
        }

        impl $crate::named::Named for $of {
            const WANTED: &'static str = $wanted;

            fn name(self) -> &'static str {
                $of::name(self)
            }

            fn from_name(name: &str) -> Option<$of> {
                $of::from_name(name)
            }
        }
    )+};
}

pub(crate) use named;
