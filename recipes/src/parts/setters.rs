//! Setters by value of a recipe's options: an option more breaks no caller.

/// Adds a setter for each field. A field whose value is made from others says so by `into`.
macro_rules! setters {
    ($options:ident { $($setter:ident($field:ident: $type:ty $(, $into:ident)?),)* }) => {
        impl $options {
            $($crate::parts::setters::setters! { @$($into)? $setter $field $type })*
        }
    };
    (@ $setter:ident $field:ident $type:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
        #[must_use]
        pub const fn $setter(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
    (@into $setter:ident $field:ident $type:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, $field: impl Into<$type>) -> Self {
            self.$field = $field.into();
            self
        }
    };
}

pub(crate) use setters;
