//! The admin's users: list, read, create, change, ban, delete, end sessions, delete a profile.
