//! Prints `src/migrations/fresh.sql`, for `cargo xtask generated`.

fn main() -> Result<(), latchkey_store::StoreError> {
    print!("{}", latchkey_store_sqlite::fresh_schema()?);
    Ok(())
}
