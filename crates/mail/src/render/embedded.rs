//! Embedded template files. The operator's folder overrides them by name.

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../templates/", $name)))),+];
    };
}

files!(
    "layout.html",
    "verify_notes.txt",
    "verify_notes.html",
    "verify_code.subject.txt",
    "verify_code.txt",
    "verify_code.html",
    "verify_link.subject.txt",
    "verify_link.txt",
    "verify_link.html",
    "reset_notes.txt",
    "reset_notes.html",
    "reset_code.subject.txt",
    "reset_code.txt",
    "reset_code.html",
    "reset_link.subject.txt",
    "reset_link.txt",
    "reset_link.html",
    "sign_up_attempt.subject.txt",
    "sign_up_attempt.txt",
    "sign_up_attempt.html",
    "act.txt",
    "act.html",
    "identity_linked.subject.txt",
    "identity_linked.txt",
    "identity_linked.html",
    "identity_unlinked.subject.txt",
    "identity_unlinked.txt",
    "identity_unlinked.html",
    "password_changed.subject.txt",
    "password_changed.txt",
    "password_changed.html",
    "password_was_reset.subject.txt",
    "password_was_reset.txt",
    "password_was_reset.html",
    "email_changed.subject.txt",
    "email_changed.txt",
    "email_changed.html",
    "session_ended_for_safety.subject.txt",
    "session_ended_for_safety.txt",
    "session_ended_for_safety.html",
);

pub(super) fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}
