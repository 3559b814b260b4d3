//! Which passwords are taken, and changePassword.
