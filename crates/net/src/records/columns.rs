//! Column definitions: the only source of the rows' types, names, units and meanings.
//!
//! Rust, files and Python all use these definitions. [`rows!`](crate::rows) declares a kind of
//! rows, and storage code reads it through [`Rows`]. The module must not depend on any kind of rows
//! or file.

/// Description of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Bits of a value in it: 8, 32 or 64.
    pub bits: u8,
    /// Format of its numbers.
    pub format: ColumnFormat,
    /// Unit: `ns`, `B`, `segments`; empty for a plain number.
    pub unit: &'static str,
    /// Meaning beyond its name, in a few words; may be empty.
    pub meaning: &'static str,
}

/// The meaning of the numbers in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFormat {
    /// As they are.
    Number,
    /// As nanoseconds since the start of the run, below 2^63.
    Time,
    /// As places in a list of names.
    Name,
}

impl Column {
    /// A column of plain numbers.
    pub const fn new<V: Value>(name: &'static str) -> Column {
        Column { name, bits: V::BITS, format: ColumnFormat::Number, unit: "", meaning: "" }
    }

    /// Makes the column a time.
    pub const fn time(self) -> Column {
        Column { format: ColumnFormat::Time, unit: "ns", ..self }
    }

    /// Makes the column one of names.
    pub const fn names(self) -> Column {
        Column { format: ColumnFormat::Name, ..self }
    }

    /// Says what the column counts in.
    pub const fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Says what the column means.
    pub const fn means(self, meaning: &'static str) -> Column {
        Column { meaning, ..self }
    }
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values<'a> {
    /// 8 bits each.
    U8(&'a [u8]),
    /// 32 bits each.
    U32(&'a [u32]),
    /// 64 bits each.
    U64(&'a [u64]),
}

impl Values<'_> {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::U8(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::U64(values) => values.len(),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A type that a column's values may have.
pub trait Value: Copy {
    /// Width in bits.
    const BITS: u8;

    /// A column of them.
    fn values(of: &[Self]) -> Values<'_>;

    /// The values that `bytes` are, little-endian; what is left over is no value.
    fn read(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! value {
    ($of:ty, $kind:ident) => {
        impl Value for $of {
            const BITS: u8 = <$of>::BITS as u8;

            fn values(of: &[$of]) -> Values<'_> {
                Values::$kind(of)
            }

            fn read(bytes: &[u8]) -> Vec<$of> {
                bytes.as_chunks().0.iter().map(|word| <$of>::from_le_bytes(*word)).collect()
            }
        }
    };
}

value!(u8, U8);
value!(u32, U32);
value!(u64, U64);

/// Rows with one vector per column, and a description of each. Implemented by
/// [`rows!`](crate::rows).
pub trait Rows: Sized {
    /// The columns, in their order.
    const COLUMNS: &'static [Column];

    /// The values of each column, in the same order.
    fn values(&self) -> Vec<Values<'_>>;

    /// Rows whose columns are the bytes that `find` has for their names, little-endian; the name of
    /// a column for which there are none is the error.
    fn read<'a>(find: impl Fn(&str) -> Option<&'a [u8]>) -> Result<Self, &'static str>;
}

/// Declares rows: for each column its vector, and its description.
///
/// ```
/// use sojourn_net::records::{Rows, Values};
///
/// sojourn_net::rows! {
///     /// Cars on a road.
///     pub struct CarRows {
///         /// When a car passed.
///         time: u64 => .time().means("its front"),
///         /// How long it is.
///         length: u32 => .unit("cm"),
///     }
/// }
///
/// let cars = CarRows { time: vec![7], length: vec![420] };
/// assert_eq!(cars.len(), 1);
/// assert_eq!((CarRows::COLUMNS[0].name, CarRows::COLUMNS[0].unit), ("time", "ns"));
/// assert_eq!(cars.values()[1], Values::U32(&[420]));
/// ```
#[macro_export]
macro_rules! rows {
    (
        $(#[$about:meta])*
        pub struct $rows:ident {
            $(
                $(#[$what:meta])*
                $column:ident: $value:ty $(=> $(.$said:ident($($with:literal)?))+)?,
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $rows {
            $($(#[$what])* pub $column: Vec<$value>,)+
        }

        impl $rows {
            /// Number of rows: that of the shortest column.
            pub fn len(&self) -> usize {
                [$(self.$column.len()),+].into_iter().min().unwrap_or(0)
            }

            /// True if there is none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Makes room for so many rows more.
            pub fn reserve(&mut self, rows: usize) {
                $(self.$column.reserve_exact(rows);)+
            }

            /// Forgets all rows and keeps their room.
            pub fn clear(&mut self) {
                $(self.$column.clear();)+
            }
        }

        impl $crate::records::Rows for $rows {
            const COLUMNS: &'static [$crate::records::Column] = &[$(
                $crate::records::Column::new::<$value>(stringify!($column))
                    $($(.$said($($with)?))+)?
            ),+];

            fn values(&self) -> Vec<$crate::records::Values<'_>> {
                vec![$($crate::records::Value::values(&self.$column)),+]
            }

            fn read<'a>(
                find: impl Fn(&str) -> Option<&'a [u8]>,
            ) -> Result<$rows, &'static str> {
                $(
                    let name = stringify!($column);
                    let $column = $crate::records::Value::read(find(name).ok_or(name)?);
                )+
                Ok($rows { $($column),+ })
            }
        }
    };
}
