//! Arrays of a statement that writes many rows: one array per column.

use latchkey_store_operations::form::{self, ManyValues};

use crate::values::Value;

/// Converts rows to one array per column.
pub(crate) fn of_rows(rows: &[ManyValues]) -> Vec<Value> {
    of(rows, |row, at| row.get(at))
}

/// Converts rows to one array per column. `value` returns the value of a row at a column; `None` ends the columns. All
/// values of a column have the type of the first row's.
pub(crate) fn of<R>(rows: &[R], value: impl Fn(&R, usize) -> Option<&form::Value>) -> Vec<Value> {
    let Some(first) = rows.first() else { return Vec::new() };
    let kinds = (0..).map_while(|at| value(first, at));
    kinds.enumerate().map(|(at, kind)| array(kind, rows.iter().map(|row| value(row, at)))).collect()
}

fn array<'a>(kind: &form::Value, cells: impl Iterator<Item = Option<&'a form::Value>>) -> Value {
    macro_rules! array {
        ($array:ident, $kind:ident, $value:ident => $given:expr) => {
            Value::$array(
                cells
                    .map(|cell| if let Some(form::Value::$kind($value)) = cell { $given } else { None })
                    .collect(),
            )
        };
    }
    match kind {
        form::Value::Flag(_) => array!(Flags, Flag, flag => Some(*flag)),
        form::Value::Int(_) => array!(Ints, Int, number => *number),
        form::Value::Text(_) => array!(Texts, Text, text => text.clone()),
        form::Value::Bytes(_) => array!(Blobs, Bytes, bytes => bytes.clone()),
        form::Value::Id(_) => array!(Ids, Id, id => *id),
    }
}
