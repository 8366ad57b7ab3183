//! Structs together with their initial values.

/// Defines structs with the value from before any event: `Name::VALUE { field: Type = value, ... }`.
macro_rules! initial {
    ($(#[$meta:meta])* $name:ident::$initial:ident { $($(#[$about:meta])* $field:ident: $type:ty = $value:expr,)+ }) => {
        $(#[$meta])*
        pub(crate) struct $name { $($(#[$about])* pub(crate) $field: $type,)+ }

        impl $name {
            pub(crate) const $initial: $name = $name { $($field: $value,)+ };
        }

        impl Default for $name {
            fn default() -> $name {
                $name::$initial
            }
        }
    };
}

pub(super) use initial;
