//! The conformance suite: the list of named cases that every engine runs, without opt-outs. A name states a fact
//! of the contract; each case gets a new, empty store and supplies its own time and ids.
//!
//! An engine's `tests/conformance.rs` consists of a function that creates an empty store, and one line:
//!
//! ```ignore
//! latchkey_store_suite::conformance_tests!(empty_store);
//!
//! /// The store, and a guard that must live as long as it does.
//! async fn empty_store() -> (std::sync::Arc<dyn latchkey_store::Store>, impl Send) { … }
//! ```
//!
//! Then every case is a separate test: `cargo test -p … --test conformance codes::an_expired_code_is_refused`.
//! (The engine's crate needs `tokio` with `macros` and `rt-multi-thread` among its dev-dependencies.)
//!
//! Facts that the contract does not show are in [`hidden`]: deleted secrets, and rows that are written only for
//! constant cost. Guarantees of a single engine are in its own tests, which may take their rows from
//! [`numbered`].
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod account_acts;
mod account_limits;
mod accounts;
mod acts;
mod audit;
mod audit_filters;
mod begun_challenges;
mod broad_searches;
mod challenge_guards;
mod challenges;
mod code_lanes;
mod codes;
mod console_sessions;
mod deletion_races;
mod deletions;
mod email_change_acts;
mod email_change_ends;
mod email_change_races;
mod email_changes;
mod email_sign_in;
mod email_sign_in_links;
mod email_undo;
mod enrolment;
mod factor_acts;
mod factor_races;
mod factors;
mod first_password;
mod first_proof;
mod fixtures;
mod guards;
pub mod hidden;
mod identities;
mod identity_links;
mod import_acts;
mod import_races;
mod import_updates;
mod imported_exports;
mod imports;
mod instances;
mod issuers;
mod last_sign_up;
mod limits;
mod links;
mod locales;
pub mod numbered;
mod oauth_acts;
mod oauth_flows;
mod oauth_providers;
mod oauth_races;
mod operator_addresses;
mod operator_sleep;
mod operators;
mod outbox;
mod own_events;
mod owner_mails;
mod page_sessions;
mod passkey_acts;
mod passkey_challenges;
mod passkey_races;
mod passkey_removal;
mod passkey_sign_in;
mod passkeys;
mod profiles;
mod proof;
mod proven_passwords;
mod purge;
mod races;
mod random;
mod refresh;
mod refresh_model;
mod reset;
mod restores;
mod sealed_values;
mod search;
mod search_feed;
mod search_oracle;
mod separation;
mod sessions;
mod settings;
mod sign_in;
mod sign_up;
mod signing_keys;
mod table;
mod undo;
mod user_changes;
mod user_list;
mod users;

use fixtures::World;
pub use table::{Case, run};

// A case that is missing in this list is reported by the compiler as dead code.
table::table! { $
    accounts {
        an_account_is_made_as_it_was_given,
        an_account_is_found_by_its_address_without_case,
        an_unknown_user_is_not_found,
        an_account_can_be_without_profile_and_password,
        an_account_comes_with_its_profile,
        an_account_comes_with_its_session,
        an_account_comes_with_its_event,
        a_taken_address_creates_nothing,
    }
    imports {
        accounts_are_created_with_the_place,
        a_batch_of_a_process_that_lost_the_import_writes_nothing,
        one_import_runs_at_a_time,
        another_import_of_a_file_is_told_while_the_first_may_run,
        an_import_that_its_file_ended_is_over,
        a_dry_run_begins_anew,
        a_changed_file_does_not_go_on,
        a_source_without_a_name_goes_on_with_the_same_bytes_alone,
        the_policy_decides_about_a_taken_address,
        an_unverified_side_opens_no_way_in,
        a_pending_account_gives_way_to_a_verified_record,
        clashes_of_ids_identities_and_usernames_are_found,
        an_id_that_the_metadata_have_no_room_for_is_in_the_report,
        an_operator_is_not_changed,
        a_second_record_of_a_reserved_address_is_a_duplicate,
        problems_are_counted_by_what_they_stand_for,
        a_dry_run_writes_no_account,
        an_undo_deletes_what_is_not_in_use,
        an_import_whose_undo_began_does_not_go_on,
        the_list_goes_both_ways_with_its_total,
    }
    instances {
        an_instance_is_listed_while_it_reports_itself,
        an_instance_that_was_not_seen_is_forgotten,
    }
    import_races {
        of_imports_that_begin_at_once_one_begins,
        a_process_that_slept_writes_nothing_behind_an_undo,
        an_end_that_is_repeated_is_one,
        an_imported_id_that_is_no_text_is_none,
    }
    import_updates {
        a_record_that_is_two_accounts_fills_none,
        an_update_gives_no_password_without_its_factor,
        an_update_tells_what_it_does_not_take,
        a_password_is_as_proven_as_the_record_says,
        an_export_has_the_issuers_of_identities,
        an_export_since_a_time_has_what_owners_changed,
        an_undo_keeps_accounts_whose_profile_came_or_went,
    }
    imported_exports {
        passkeys_are_kept_and_belong_to_one_account,
        times_of_a_record_are_kept_and_do_not_hinder_an_undo,
        the_end_of_a_failed_import_is_the_last_line_of_its_report,
    }
    sign_up {
        the_state_of_an_address_is_returned,
        a_free_address_becomes_a_pending_account,
        a_pending_account_is_verified_by_its_code,
        a_repeated_sign_up_renews_the_code,
        a_repeated_sign_up_supersedes_the_link,
        another_password_makes_the_address_contested,
        a_contested_address_stays_contested,
        a_hash_with_another_salt_must_be_rehashed,
        the_owner_of_a_verified_address_gets_a_mail,
        an_unverified_account_that_is_not_pending_never_changes,
        a_banned_owner_gets_no_mail,
        a_sign_up_changes_no_other_account,
    }
    last_sign_up {
        the_last_sign_up_is_stored_for_every_account,
        a_sign_up_is_hashed_with_the_salt_of_the_account,
        a_sign_up_has_its_own_salt_if_the_account_has_no_usable_one,
        a_pending_account_that_is_proven_or_opened_forgets_the_sign_up,
        a_taken_account_that_is_proven_keeps_the_sign_up,
        a_new_address_forgets_the_sign_up,
        a_change_of_the_password_keeps_the_sign_up_that_is_comparable,
        concurrent_sign_ups_and_password_changes_leave_comparable_hashes,
        a_reset_returns_the_sign_up_that_it_keeps,
        a_hash_under_new_parameters_forgets_the_sign_up,
        a_stale_pending_account_is_purged_with_its_rows,
        another_sign_up_restarts_the_retention_of_a_pending_account,
        a_stale_sign_up_removes_no_account_that_is_not_pending,
        stale_sign_ups_are_purged_in_batches,
    }
    codes {
        the_right_code_verifies_and_signs_in,
        a_code_is_mailed_to_the_account,
        a_wrong_code_is_refused_and_opens_nothing,
        an_expired_code_is_refused,
        a_code_is_good_once,
        the_fifth_attempt_counts_and_the_sixth_does_not,
        ten_attempts_an_hour_hold_across_resends,
        the_tenth_attempt_of_the_hour_counts,
        attempts_count_where_there_is_no_code,
        a_newer_code_replaces_the_older,
        a_newer_code_has_attempts_of_its_own,
        a_link_ends_the_code_and_a_code_ends_the_link,
        codes_of_two_purposes_are_live_at_the_same_time,
        addresses_without_a_claim_get_neither_code_nor_mail,
        an_account_created_after_a_decoy_does_not_get_its_code,
        a_banned_account_is_refused,
        verification_from_inside_keeps_existing_sessions,
    }
    links {
        an_opened_link_verifies_without_signing_in,
        an_opened_link_is_audited_with_its_user,
        a_link_opened_again_is_good_until_it_expires,
        an_expired_link_verifies_nobody,
        a_superseded_link_verifies_nobody,
        an_unknown_link_is_unknown,
        a_link_of_an_address_without_an_account_is_unknown,
        inspecting_a_link_changes_nothing,
        a_link_can_be_without_a_redirect,
        a_token_opens_nothing_for_another_address,
        a_token_signs_in_where_it_verifies,
        a_token_signs_in_once,
        a_token_signs_nobody_in_after_a_browser_verified,
        a_used_token_signs_nobody_in_after_the_address_was_unverified,
        a_verification_consumes_the_other_code_or_link,
        a_link_is_superseded_with_the_address_it_proved,
        a_reset_link_is_good_any_number_of_times,
        a_newer_reset_link_replaces_the_older,
        a_used_reset_link_has_the_status_used,
    }
    code_lanes {
        a_stranger_cannot_lock_out_known_clients,
        a_code_is_good_from_either_lane,
        each_lane_has_a_live_code,
        a_used_code_ends_that_of_the_other_lane,
        a_code_has_five_attempts_from_each_lane,
        a_lane_that_is_used_up_refuses_right_codes_of_both,
        thirty_wrong_attempts_a_day_make_codes_long,
        a_long_code_is_tried_without_being_counted,
        a_repeated_sign_up_gets_a_long_code,
        an_unknown_address_has_lanes_too,
        every_kind_of_sign_in_makes_the_client_known,
        a_client_is_forgotten_after_thirty_days,
        a_purge_deletes_only_the_expired_code_of_a_lane,
    }
    reset {
        a_reset_code_is_exchanged_for_a_token,
        a_reset_code_is_exchanged_once,
        a_refused_exchange_makes_no_token,
        an_expired_reset_code_is_refused,
        a_replaced_reset_code_is_refused,
        a_reset_code_has_five_attempts_and_an_hour_ten,
        addresses_without_a_claim_get_no_reset,
        an_exchange_ends_the_reset_tokens_before_it,
        an_exchanged_token_is_no_link,
        an_expired_reset_token_is_refused,
        a_reset_sets_the_password_once,
        a_reset_ends_every_session,
        a_reset_deletes_what_is_outstanding,
        a_reset_deletes_an_outstanding_code,
        a_reset_is_audited_with_its_user,
        an_account_without_a_password_gets_one_by_reset,
        a_ban_ends_the_reset,
    }
    proof {
        a_contested_account_verified_by_code_keeps_no_password_and_no_name,
        a_contested_account_verified_by_link_keeps_no_password_and_no_name,
        a_contested_account_verified_by_token_keeps_no_password_and_no_name,
        neither_password_opens_a_contested_account_afterwards,
        a_contested_account_gets_its_password_by_reset,
        an_uncontested_account_keeps_password_and_profile,
        a_verified_address_is_contested_no_more,
        the_first_proof_by_reset_clears_what_came_before,
        a_pending_account_is_verified_by_reset,
        a_reset_of_a_verified_account_keeps_its_profile,
    }
    first_proof {
        a_code_from_outside_removes_everything_of_a_squatter,
        a_token_from_outside_removes_everything_of_a_squatter,
        a_link_from_outside_asks_before_it_verifies,
        a_link_with_consent_removes_everything_of_a_squatter,
        a_proof_from_inside_keeps_everything_but_outstanding_codes,
        a_link_in_the_browser_of_the_session_keeps_everything,
        a_session_of_another_account_is_outside,
        a_session_that_ended_is_outside,
        a_contested_account_is_emptied_from_inside_as_well,
        an_inaccessible_account_is_verified_without_asking_for_consent,
        a_pending_account_is_verified_without_asking_and_keeps_its_password,
        an_admin_who_vouches_removes_nothing,
    }
    proven_passwords {
        a_link_from_outside_leaves_the_password_unproven_and_the_provider_takes_over,
        a_reset_takes_over_where_the_password_is_unproven,
        a_code_proves_the_password,
        the_browser_that_signed_up_proves_the_password,
        another_browser_proves_nothing,
        the_browser_of_an_older_sign_up_proves_nothing,
        the_browser_that_signed_up_is_forgotten_after_a_day,
        a_sign_up_at_a_taken_address_makes_no_browser_known,
        a_changed_or_rehashed_password_is_as_unproven_as_before,
        a_password_that_was_reset_is_proven,
        an_admin_who_vouches_proves_the_password,
    }
    separation {
        a_code_of_one_account_opens_no_other,
        a_code_of_one_purpose_serves_no_other,
        attempts_count_by_account_and_by_purpose,
        a_verify_link_resets_no_password,
        a_reset_token_verifies_no_address,
        a_reset_changes_no_other_account,
        a_new_code_invalidates_no_code_of_another_account,
        an_address_given_away_keeps_no_code,
        an_address_given_back_revives_no_code,
    }
    sign_in {
        the_account_at_an_address_is_found_with_its_password,
        a_right_password_opens_the_session,
        a_signed_in_account_is_pending_no_more,
        a_sign_in_stores_the_hash_under_new_parameters,
        a_password_that_changed_meanwhile_opens_nothing,
        an_account_without_a_password_opens_nothing,
        an_account_banned_or_deleted_meanwhile_opens_nothing,
        a_failed_sign_in_is_audited_as_given,
        a_changed_password_ends_the_other_sessions,
        a_changed_password_deletes_what_is_outstanding,
        a_changed_password_deletes_outstanding_codes,
        a_change_from_a_stale_password_changes_nothing,
        a_banned_account_changes_no_password,
        a_password_change_begins_in_a_living_session,
        a_password_change_begins_for_the_address_that_the_account_has,
    }
    guards {
        the_tenth_failure_blocks_account_and_client,
        the_delay_grows_with_each_further_failure,
        a_failure_while_blocked_returns_the_limit,
        another_client_is_not_blocked,
        failures_count_where_there_is_no_account,
        old_failures_are_forgotten,
        a_hundred_failures_leave_only_known_clients,
        ninety_nine_failures_stop_no_stranger,
        a_storm_on_one_account_stops_no_other,
        a_client_is_known_for_thirty_days,
        a_success_forgets_the_failures_of_the_pair,
        a_success_does_not_forget_the_failures_of_the_account,
        a_guess_begun_before_the_block_gains_nothing,
        without_a_guard_nothing_is_counted,
        a_password_change_shares_the_guess_limits,
    }
    enrolment {
        a_pending_factor_is_nothing_until_it_is_confirmed,
        a_new_pending_factor_replaces_the_earlier,
        a_pending_factor_belongs_to_its_session,
        a_pending_factor_expires,
        the_fifth_wrong_code_drops_a_pending_factor,
        the_first_factor_turns_two_step_on_and_ends_every_session,
        an_undo_token_is_written_with_its_mail_alone,
        an_unverified_address_or_an_unproven_password_enrolls_nothing,
        an_address_unverified_meanwhile_turns_nothing_on,
        a_challenge_of_a_sign_in_enrolls_where_that_is_required,
        a_challenge_without_enrolment_enrolls_nothing,
        an_enrolment_of_an_ended_challenge_confirms_nothing,
        expired_pending_factors_are_purged_and_confirmed_ones_are_not,
    }
    factors {
        a_second_factor_is_added_and_a_third_is_refused,
        an_ended_session_changes_no_factor,
        a_factor_is_renamed,
        a_factor_of_another_account_is_not_found,
        the_last_factor_stays_while_two_step_is_on,
        two_step_turned_off_removes_the_factors_and_ends_no_session,
        recovery_codes_are_replaced_while_two_step_is_on,
        an_admin_removes_all_factors,
        a_change_of_factors_ends_challenges_and_second_reset_tokens,
    }
    challenges {
        a_challenge_is_found_with_what_its_answer_is_judged_by,
        a_totp_code_completes_the_sign_in,
        a_recovery_code_completes_the_sign_in_once,
        another_number_of_recovery_codes_judges_nothing,
        a_step_is_accepted_once_and_none_before_it,
        the_fifth_wrong_answer_ends_the_challenge,
        an_answer_that_does_not_belong_to_the_challenge_changes_nothing,
        a_factor_of_another_account_or_kind_is_wrong,
        a_ban_or_an_unverified_address_voids_the_sign_in,
        what_revokes_codes_ends_challenges,
        an_identity_is_linked_by_the_answer,
        an_identity_linked_elsewhere_or_unlinked_voids_the_sign_in,
        a_session_opened_by_an_answer_ends_with_its_identity,
        expired_challenges_are_purged,
    }
    begun_challenges {
        a_step_up_is_answered_with_the_second_factor,
        a_step_up_is_answered_with_the_password,
        a_step_up_is_answered_with_a_mailed_code,
        a_step_up_belongs_to_its_live_session,
        a_session_of_level_one_ends_at_its_step_up_where_level_two_is_required,
        a_step_up_without_a_kind_writes_nothing,
        a_reset_needs_the_second_factor,
        a_reset_challenge_needs_a_good_token,
        an_account_without_two_step_resets_without_a_challenge,
    }
    challenge_guards {
        the_eleventh_answer_of_a_client_waits,
        beyond_thirty_a_day_known_clients_alone_answer,
        a_success_ends_the_failures_in_a_row_and_no_others,
        the_fifth_failure_of_a_day_is_mailed_once,
        failures_without_guess_limits_count_on_the_challenge_alone,
    }
    factor_races {
        of_twenty_right_answers_one_wins,
        a_step_is_taken_once_by_many_challenges,
        a_recovery_code_is_taken_once_by_many_challenges,
        two_recovery_codes_at_once_are_mailed_with_their_numbers,
        of_twenty_wrong_answers_five_are_judged,
        concurrent_failures_do_not_exceed_the_guess_limit,
        two_step_is_turned_on_once,
        a_sign_in_that_races_with_two_step_leaves_no_session,
        a_factor_removed_while_it_answers_is_used_before_or_not_at_all,
        of_twenty_undo_calls_one_takes_the_event_back,
    }
    passkey_challenges {
        a_passkey_answers_and_its_session_remembers_it,
        the_newest_options_count,
        a_wrong_passkey_counts_and_a_copied_one_is_mailed,
        a_passkey_of_another_relying_party_is_not_offered,
        a_step_up_by_passkey_needs_no_two_step,
        a_passkey_enrols_where_two_step_is_required,
        who_has_a_passkey_is_asked_for_it_and_may_not_enrol,
        a_passkey_alone_turns_two_step_on,
        an_unverified_account_turns_two_step_on_by_no_passkey,
    }
    passkey_races {
        of_twenty_uses_of_a_ceremony_one_registers,
        of_twenty_accounts_one_registers_a_credential,
        twenty_registrations_at_once_do_not_exceed_the_maximum,
        of_twenty_uses_of_a_ceremony_one_signs_in,
        a_counter_is_accepted_once_by_many_ceremonies,
        of_twenty_answers_by_passkey_one_wins,
        of_two_last_passkeys_one_stays,
    }
    passkey_sign_in {
        a_passkey_opens_a_session_of_level_two,
        a_passkey_is_never_challenged,
        a_counter_that_did_not_grow_is_refused_audited_and_mailed,
        an_assertion_that_the_caller_refuses_is_audited,
        an_authenticator_without_a_counter_signs_in_again_and_again,
        a_ceremony_signs_in_once_until_it_expires,
        a_banned_or_unverified_account_is_told_so_and_gets_no_session,
        a_removed_or_foreign_passkey_signs_in_to_nothing,
    }
    passkey_removal {
        a_removal_ends_the_other_sessions_of_the_passkey,
        a_passkey_of_another_account_is_not_removed,
        the_last_way_in_is_not_removed,
        an_identity_may_go_while_a_usable_passkey_is_left,
        the_last_second_factor_is_not_removed,
        turning_two_step_off_keeps_passkeys,
        an_admin_removes_one_passkey,
        the_last_factor_that_an_admin_removes_ends_two_step,
        recovery_codes_keep_two_step_on_when_an_admin_removes_a_passkey,
        a_reset_of_factors_removes_passkeys_on_request,
    }
    passkeys {
        a_passkey_is_stored_as_it_was_registered,
        the_user_handle_is_made_once,
        a_registration_needs_a_live_session_of_the_account,
        a_registration_that_was_never_begun_is_refused,
        a_ceremony_registers_once_until_it_expires,
        a_credential_that_any_account_has_is_refused,
        the_twenty_first_passkey_is_refused,
        a_registration_ends_open_challenges,
        a_passkey_is_mailed_with_an_undo_link_while_two_step_is_off,
        a_passkey_is_mailed_without_an_undo_link_while_two_step_is_on,
        an_unverified_account_registers_a_passkey_without_a_mail,
        an_undo_removes_the_passkeys_of_the_event_and_the_day_before,
        a_passkey_is_renamed_by_its_owner_alone,
        passkeys_of_other_relying_parties_are_kept_and_counted,
        a_deleted_account_leaves_no_passkey,
        the_first_proof_of_a_mailbox_removes_a_squatters_passkey,
    }
    undo {
        an_undo_link_tells_its_event,
        an_undo_takes_two_step_back_with_all_that_is_open,
        an_identity_of_the_day_before_goes_as_well,
        an_undo_link_is_good_once,
        another_address_or_time_is_refused_and_counted,
        a_banned_account_takes_nothing_back,
        the_mailbox_of_a_former_address_takes_nothing_back,
        an_undo_ends_the_links_of_later_events_alone,
        an_undo_changes_no_other_account,
    }
    sessions {
        an_unknown_session_does_not_live,
        a_session_ends_when_it_was_idle_too_long,
        a_session_ends_when_it_is_too_old,
        living_sessions_are_listed_newest_first,
        a_live_session_is_named_by_its_user_alone,
        a_user_ends_one_session,
        nobody_ends_the_session_of_another,
        a_user_ends_all_other_sessions,
        a_refresh_token_ends_its_session,
        a_recently_replaced_token_ends_its_session_too,
        a_token_whose_successor_was_never_used_ends_its_session,
        a_stale_or_foreign_token_ends_no_session,
        an_event_is_written_where_a_session_ended,
        an_expired_session_is_not_ended_again,
        a_ban_and_a_deletion_end_sessions_at_once,
        the_session_limit_ends_the_least_recently_refreshed_session,
        every_kind_of_sign_in_enforces_the_session_limit,
        a_refused_sign_in_ends_no_session,
        ended_sessions_do_not_count_towards_the_limit,
        concurrent_sign_ins_respect_the_session_limit,
    }
    email_changes {
        a_change_needs_a_code_of_each_side,
        a_changed_address_is_told_on_both_sides_and_audited,
        a_changed_address_ends_other_sessions_codes_tokens_and_challenges,
        an_unverified_address_is_left_without_proof_mail_or_reservation,
        the_second_factor_stands_for_the_current_address,
        a_wrong_code_is_refused_and_a_right_one_beside_it_counts,
        each_side_has_five_attempts_and_ten_an_hour,
        a_side_with_thirty_wrong_codes_a_day_gets_a_long_one,
        a_malformed_code_is_refused_and_not_counted,
        a_newer_change_replaces_the_older_with_its_codes,
        a_change_is_confirmed_in_time_by_the_session_that_began_it,
        a_limited_change_changes_nothing,
        a_taken_address_gets_no_code_and_its_owner_is_told,
        a_pending_account_goes_when_its_mailbox_is_proven,
        a_banned_pending_account_stays_and_keeps_its_address,
        an_address_lost_meanwhile_is_told_after_both_proofs,
    }
    deletion_races {
        of_twenty_restorals_one_signs_in,
        an_account_is_restored_or_gone_but_never_both,
        no_sign_in_beside_the_deletion_leaves_a_session,
        a_deletion_and_a_restoral_end_in_one_of_both,
    }
    deletions {
        a_deleted_account_is_hidden_and_signed_out,
        only_a_live_session_of_the_account_deletes_it,
        every_way_in_asks_whether_to_restore,
        the_answer_restores_and_signs_in_once,
        a_second_factor_comes_before_the_restoral,
        the_session_remembers_the_passkey_and_identity_from_before_the_restoral,
        an_account_is_gone_after_its_grace,
        a_restored_account_is_not_finished,
        without_a_grace_it_is_gone_at_once,
        its_undo_link_restores_the_account,
        an_undo_of_an_earlier_event_ends_the_deletion,
        an_admin_restores_and_deletes,
        in_the_grace_there_are_no_mails_but_of_sign_in_and_reset,
        a_profile_changed_in_the_grace_stays_hidden,
    }
    email_change_ends {
        what_ends_the_codes_of_an_account_ends_its_change,
        a_cancelled_change_is_gone,
        a_known_client_is_known_under_the_new_address,
        the_password_counts_as_proven_at_the_new_address,
        the_sign_up_of_the_old_address_is_forgotten,
        a_stale_change_is_purged,
        a_deleted_account_leaves_no_change_and_no_reservation,
    }
    email_change_races {
        of_twenty_confirmations_one_changes_the_address,
        wrong_codes_of_twenty_racers_are_all_counted,
        of_twenty_accounts_one_gets_the_address,
        no_racer_gets_an_address_that_is_being_left,
        no_racer_keeps_the_owner_from_undoing,
        an_address_is_changed_or_undone_but_never_half,
    }
    email_sign_in {
        a_sign_in_code_opens_a_session_once,
        an_address_without_an_account_is_mailed,
        a_code_for_no_account_creates_one,
        an_account_created_after_the_code_does_not_get_it,
        a_code_of_an_account_creates_no_other,
        closed_sign_up_leaves_a_decoy,
        a_banned_account_gets_a_decoy,
        a_refused_code_is_counted_and_audited,
        a_sign_in_code_is_of_its_own_purpose,
        a_sign_in_by_mail_takes_an_unproven_account_over,
    }
    email_sign_in_links {
        a_link_opens_with_its_challenge_alone,
        a_sign_in_link_expires,
        a_sign_in_link_for_no_account_creates_one,
        a_sign_in_link_is_of_the_account_that_it_was_mailed_for,
        a_newer_mail_supersedes_the_link_of_its_lane,
        a_code_ends_the_link_of_its_mail,
        a_sign_in_link_is_of_its_own_purpose,
    }
    email_undo {
        the_old_mailbox_takes_the_address_back,
        identities_since_the_day_before_the_change_go,
        an_earlier_link_ends_the_later_ones_with_their_reservations,
        a_later_link_leaves_the_earlier_one,
        two_step_from_before_the_change_is_asked_for,
        a_recovery_code_of_an_undo_is_told_at_the_address_that_is_back,
        an_undo_for_another_address_completes_no_challenge,
        the_link_of_two_step_gives_a_later_changed_address_back,
        a_change_by_an_admin_ends_links_and_reservations,
        a_link_and_its_reservation_last_as_long_as_the_window,
        a_reserved_address_is_taken_for_everybody_else,
        an_admin_gives_an_account_its_reserved_address,
        an_address_reserved_meanwhile_is_lost_to_a_change,
        the_last_sign_up_is_stored_for_a_reserved_address,
        an_undo_of_a_change_changes_no_other_account,
    }
    first_password {
        an_account_without_password_gets_one_once,
        a_first_password_ends_other_sessions_codes_and_tokens,
        only_a_live_session_of_the_account_sets_its_password,
        the_password_of_an_unverified_address_tells_nobody,
        of_concurrent_first_passwords_one_is_set,
    }
    operators {
        a_grant_sleeps_until_its_own_link_is_used,
        an_activation_needs_a_live_session_and_two_step_sign_in,
        a_usable_passkey_activates_a_grant,
        only_a_verified_account_in_use_becomes_an_operator,
        a_change_of_role_keeps_the_activation,
        a_new_link_puts_the_grant_to_sleep_and_replaces_the_old_one,
        accounts_of_operators_are_protected_from_admin_keys,
        the_last_owner_stays_whatever_is_tried,
        an_owner_who_cannot_enter_replaces_none,
        of_two_owners_one_stays_however_they_leave,
        of_twenty_uses_of_a_link_one_activates,
    }
    console_sessions {
        a_console_session_is_found_with_its_role_in_its_browser_alone,
        no_console_session_opens_without_an_active_grant,
        the_session_of_an_activation_opens_nothing_before_it,
        a_change_of_the_grant_ends_its_console_sessions_alone,
        a_console_session_does_not_outlive_what_it_stands_on,
        a_use_extends_a_console_session,
        an_operator_is_found_by_the_account,
        a_link_is_valid_for_its_own_account_until_it_expires,
    }
    operator_addresses {
        a_grant_for_an_address_passes_on_to_the_account_that_gets_it,
        an_account_that_may_not_be_an_operator_gets_no_waiting_grant,
        an_address_with_an_account_gets_no_grant_of_its_own,
        a_grant_of_the_account_ends_that_of_its_address,
        a_waiting_grant_is_replaced_expires_and_is_revoked,
        an_account_for_which_a_grant_waits_is_protected,
    }
    operator_sleep {
        the_last_owner_is_not_put_to_sleep_by_the_own_account,
        a_grant_sleeps_when_two_step_sign_in_is_turned_off,
        a_grant_stays_active_while_another_factor_is_left,
        a_grant_sleeps_when_the_only_passkey_is_removed,
        a_grant_sleeps_when_an_admin_removes_a_factor,
        a_grant_sleeps_after_an_undo,
        a_grant_sleeps_when_a_factor_is_added_that_none_vouches_for,
        the_grant_of_the_last_owner_sleeps_for_the_command_line_alone,
    }
    page_sessions {
        a_page_session_is_found_in_its_browser_alone,
        a_page_session_refreshes_nothing,
        a_use_extends_a_live_page_session_and_never_goes_back,
        a_sign_in_ends_the_page_session_of_another_user,
        a_sign_in_of_the_same_user_takes_over_the_app_sessions,
        a_refused_sign_in_ends_no_page_session,
        a_change_of_password_or_address_ends_the_codes_for_apps,
    }
    refresh {
        a_session_of_level_one_ends_at_its_refresh_where_level_two_is_required,
        a_refresh_replaces_the_token,
        a_replaced_token_gets_the_same_successor_in_its_grace,
        after_the_successors_first_use_a_replay_is_refused,
        a_late_duplicate_of_many_rotations_ago_is_refused,
        a_replay_after_the_grace_ends_the_session,
        a_response_lost_for_days_is_recovered,
        a_new_successor_has_a_grace_of_its_own,
        a_successor_replaced_unused_ends_the_session,
        a_sealed_successor_deleted_early_is_replaced,
        reuse_of_any_earlier_token_ends_the_session,
        a_refresh_that_ends_nothing_writes_no_reuse,
        an_ended_session_has_no_grace,
        a_session_slides_until_it_was_idle_too_long,
        no_refresh_outlives_the_absolute_end,
        a_token_of_no_session_is_refused,
        a_banned_user_refreshes_nothing,
        checking_a_valid_token_changes_nothing,
        the_grace_window_ends_with_its_last_millisecond,
        an_expired_session_is_refused_and_not_revoked,
    }
    refresh_model {
        rotation_agrees_with_the_policy_on_seeded_walks,
    }
    profiles {
        every_field_is_stored_as_given,
        a_patch_changes_only_what_it_names,
        an_empty_patch_changes_nothing,
        a_change_of_the_profile_shows_on_the_user,
        a_change_asks_for_one_of_its_versions,
        a_failed_precondition_holds_for_an_empty_patch_too,
        a_username_has_one_owner,
        a_username_given_up_is_free,
        a_user_without_a_profile_has_none_to_change,
        a_missing_profile_is_made_where_that_is_asked_for,
        a_missing_profile_has_no_version_that_matches,
        an_existing_profile_is_not_made_again,
        no_profile_is_created_for_an_unknown_user,
        the_profile_of_a_pending_or_banned_user_is_hidden,
        a_change_by_a_session_needs_one_that_lives,
        custom_fields_are_bounded_together,
        a_clock_that_steps_back_decreases_no_update_time,
    }
    search {
        every_word_may_occur_in_another_field,
        a_hit_is_the_whole_profile,
        better_ranks_come_first_and_newer_profiles_within_a_rank,
        an_edit_makes_no_profile_newer,
        profiles_of_equal_time_are_ordered_by_id_descending,
        pages_are_whole_and_never_overlap,
        totals_are_exact_at_any_offset,
        metacharacters_are_plain_characters,
        short_words_match_at_the_start_of_a_word,
        case_accents_width_and_ligatures_make_no_difference,
        words_end_at_unicode_white_space,
        an_edit_is_seen_at_once,
        deleted_profiles_and_users_are_not_found,
        banned_users_are_not_found,
        pending_users_are_not_found_before_their_proof,
        text_removed_by_the_first_proof_is_not_found,
        addresses_ids_and_private_fields_are_not_searched,
    }
    search_feed {
        changes_of_visible_profiles_are_delivered,
        banned_deleted_and_pending_users_are_hidden,
        a_new_consumer_reads_all_entries,
        found_profiles_come_in_the_order_of_the_ids,
        a_cursor_of_another_database_is_lost,
        a_consumer_away_for_days_is_lost_or_misses_nothing,
        a_consumer_misses_nothing_during_concurrent_writes,
    }
    search_oracle {
        search_agrees_with_its_definition,
    }
    outbox {
        mails_are_claimed_oldest_first,
        a_claimed_mail_is_whole,
        the_name_is_the_one_at_the_time_of_the_claim,
        a_mail_under_a_living_lease_is_claimed_by_nobody_else,
        a_mail_is_claimed_again_after_its_lease,
        a_sent_mail_is_sent_once,
        an_unknown_mail_is_not_settled,
        a_mail_waits_for_its_retry,
        a_new_mail_of_a_clock_that_ran_ahead_is_due_at_once,
        a_lease_of_a_clock_that_ran_ahead_has_ended,
        a_retry_of_a_clock_that_ran_ahead_is_due_at_once,
        a_dead_mail_stays_and_is_not_claimed,
        dead_mails_are_tried_again_on_demand,
        the_next_due_mail_is_the_earliest_queued_or_leased,
        mails_are_listed_newest_first_and_by_state,
        mails_are_listed_page_by_page,
        mails_are_listed_by_address,
        a_mail_is_found_with_its_content_until_it_is_sent,
        the_code_or_link_of_a_mail_works_until_it_is_replaced_or_used,
        a_listed_mail_has_all_fields_for_the_operator,
        mails_are_deleted_with_their_user,
    }
    account_limits {
        an_untouched_account_has_no_counters,
        counters_of_an_account_are_found_by_its_keys,
        counters_of_an_unknown_address_are_found_alike,
        counters_of_second_factors_are_found,
        limits_are_lifted_of_one_account_and_audited,
        limits_are_lifted_while_failures_are_counted,
    }
    limits {
        a_bucket_gives_its_burst_and_no_more,
        tokens_are_taken_from_all_buckets_or_from_none,
        every_key_has_a_bucket_of_its_own,
        buckets_follow_the_rule_of_the_domain,
        nothing_to_take_is_never_refused,
        a_limited_sign_up_begins_nothing,
        a_limited_sign_in_begins_nothing,
        a_password_change_takes_where_it_begins_and_nowhere_else,
        a_limited_request_changes_nothing,
        a_request_takes_its_tokens_for_known_and_unknown_alike,
        a_limited_attempt_is_not_counted,
        a_limited_exchange_is_not_counted,
        a_limited_link_is_not_opened,
        every_inspection_of_a_link_takes_from_its_limit,
        a_limited_reset_begins_nothing,
    }
    settings {
        a_fresh_store_answers_and_has_no_settings,
        settings_are_kept_sorted_by_key,
        a_setting_is_replaced_and_reset,
        every_change_increments_the_version,
        a_change_of_settings_is_audited,
    }
    signing_keys {
        the_first_key_signs,
        a_rotated_key_signs_and_the_one_before_is_accepted_for_a_while,
        several_former_keys_are_accepted_side_by_side,
        a_rotation_of_another_key_than_the_one_that_signs_changes_nothing,
        changes_of_keys_increment_the_shared_version,
        a_rotation_is_audited,
    }
    sealed_values {
        every_sealed_mail_is_listed_once,
        a_sealed_value_is_replaced_only_if_it_is_still_the_one_that_was_read,
        a_rotation_of_the_secret_is_unfinished_until_it_is_finished,
        a_kept_key_is_never_overwritten,
    }
    restores {
        all_sessions_of_a_restored_database_end,
        no_earlier_key_of_a_restored_database_is_accepted,
        kept_sessions_and_keys_of_a_restored_database_go_on,
        no_half_sign_in_of_a_restored_database_goes_on,
        half_sign_ins_go_on_with_kept_sessions,
        mails_of_a_restored_database_whose_code_has_ended_are_dead,
        old_mails_of_a_restored_database_are_dead,
    }
    audit {
        an_event_is_stored_as_given,
        every_kind_of_event_is_stored,
        events_come_newest_first_in_pages,
        a_last_full_page_is_the_last,
        an_event_that_comes_in_moves_no_page,
        events_outlive_their_user,
        an_event_is_purged_after_its_retention,
        a_failure_without_an_account_is_purged_after_thirty_days,
    }
    audit_filters {
        each_condition_selects_its_events,
        filtered_events_come_in_pages,
        a_page_ends_after_the_inspected_events,
        pages_lead_back_to_later_events,
        events_are_counted_up_to_a_limit,
    }
    own_events {
        an_account_has_its_own_events_alone,
        requests_of_others_are_not_shown_to_the_owner,
        own_events_come_newest_first_in_pages,
        own_events_of_one_millisecond_are_paged_by_id,
        own_events_are_listed_by_kind_and_time,
        a_page_before_an_event_of_nobody_or_another_is_unknown,
    }
    users {
        users_are_listed_newest_first,
        pages_by_offset_and_by_cursor_are_the_same,
        a_last_full_page_has_no_more,
        a_cursor_stays_right_while_users_come_and_go,
        users_are_searched_by_address_name_and_id,
        a_search_is_paged_like_the_whole,
        a_search_that_begins_every_address_finds_all,
        deleted_users_are_gone_with_all_that_is_theirs,
        a_freed_address_begins_anew,
        an_empty_list_deletes_no_user,
        an_admin_deletes_a_profile_once,
    }
    broad_searches {
        a_search_that_many_match_is_paged_in_every_order,
        matches_that_lie_far_apart_are_found,
    }
    user_list {
        filters_and_orders_agree_with_a_model,
        pages_of_every_order_follow_one_another_both_ways,
        the_last_sign_in_is_that_of_the_audit_log,
        numbers_stay_right_after_a_purge,
    }
    account_acts {
        an_admin_ends_all_sessions,
        an_admin_ends_one_session,
        a_session_of_another_user_does_not_end,
        an_admin_sets_a_password_which_ends_sessions_codes_and_tokens,
        a_password_for_an_unverified_address_is_not_mailed_about,
        an_admin_removes_the_text_of_a_profile,
        an_admin_has_a_code_mailed,
        an_account_that_may_not_have_a_code_gets_none_from_an_admin,
        an_admin_unlinks_an_identity_but_not_the_last_way_in,
        acts_spare_the_accounts_of_operators,
    }
    user_changes {
        a_new_address_is_unverified,
        a_new_address_is_verified_where_the_admin_says_so,
        a_new_address_ends_codes_and_tokens,
        an_address_of_another_account_is_refused,
        the_own_address_can_be_respelled,
        verification_is_set_and_taken_back,
        a_ban_ends_sessions_codes_and_tokens,
        a_lifted_ban_revives_nothing,
        metadata_is_replaced_as_a_whole,
        fields_that_are_not_named_stay,
        an_unknown_user_is_not_changed,
        every_event_of_a_change_is_written_with_its_user,
    }
    purge {
        a_fresh_store_has_nothing_to_purge,
        live_rows_are_not_purged,
        accounts_settings_keys_and_audit_are_never_purged,
        expired_and_used_links_keep_their_status_for_seven_days,
        sent_mails_are_kept_for_thirty_days_and_dead_ones_longer,
        ended_sessions_are_purged_after_seven_days,
        decoys_are_purged,
        a_bucket_that_is_not_full_yet_is_kept,
        failures_that_count_are_kept,
        the_attempts_of_an_hour_are_kept,
        a_known_client_stays_known_for_thirty_days,
        a_cleared_failure_survives_a_purge,
        a_purge_deletes_a_few_thousand_rows_per_call,
        states_are_purged_after_a_day_and_codes_at_their_expiry,
    }
    identities {
        a_first_sign_in_makes_an_account,
        a_later_sign_in_finds_the_account_by_the_subject_alone,
        subjects_of_two_providers_are_two_identities,
        subjects_are_compared_byte_by_byte,
        profile_and_name_are_of_the_first_sign_in_alone,
        an_account_without_a_profile_can_be_made,
        an_unproven_address_makes_an_unverified_account,
        data_of_an_unproven_identity_does_not_survive_the_proof_of_the_mailbox,
        a_proven_address_links_to_a_verified_account,
        an_unproven_address_links_nothing,
        a_verified_owner_takes_a_never_verified_account_over,
        pending_and_contested_accounts_are_taken_over,
        an_account_that_moved_to_an_unproven_address_is_not_taken_over,
        a_banned_account_is_not_opened_and_not_linked,
        rules_of_the_operator_hold,
        a_token_is_accepted_once,
        a_refused_token_is_used_up_as_well,
        events_name_user_and_session,
        a_reset_removes_identities_of_a_never_verified_account,
        a_take_over_creates_no_missing_profile,
    }
    identity_links {
        an_identity_is_linked_to_the_account_of_a_session,
        linking_again_changes_nothing,
        an_identity_of_another_account_is_taken,
        only_a_living_session_of_the_user_links,
        the_last_way_to_sign_in_stays,
        a_verified_address_is_a_way_to_sign_in_by_mail,
        a_password_is_a_way_to_sign_in,
        one_of_several_identities_of_a_provider_is_unlinked,
        identities_of_others_are_not_unlinked,
        identities_go_with_their_user,
        unlinking_ends_the_other_sessions_that_the_identity_opened,
        unlinking_ends_provider_sessions_of_unknown_identity,
        a_reset_keeps_the_identities_that_vouch_for_the_address_alone,
        the_last_assertion_of_a_provider_counts_at_a_reset,
        an_identity_of_the_address_before_goes_at_a_reset,
    }
    locales {
        the_language_of_an_account_is_read_with_its_mails_and_by_its_owner,
        an_account_without_a_language_has_none,
    }
    owner_mails {
        a_new_link_is_notified_and_an_existing_one_is_not,
        an_unlink_is_notified,
        an_identity_that_joins_an_account_is_notified_and_one_that_creates_it_is_not,
        a_changed_password_is_notified,
        a_reset_password_is_notified,
        a_changed_address_is_notified_to_the_old_one,
        a_session_ended_for_safety_is_notified_once,
        an_unproven_address_gets_no_notification,
    }
    issuers {
        same_subject_at_another_issuer_is_another_identity,
        another_issuer_links_to_another_account,
        earlier_identities_take_the_issuer_of_their_provider,
        issuer_that_is_known_does_not_change,
        earlier_identity_stays_as_it_is_where_its_subject_is_linked_again,
        of_twenty_instances_all_find_the_issuers_settled,
        earlier_identity_takes_the_issuer_of_a_sign_in_that_alone_tells_it,
        earlier_identity_of_an_account_is_not_linked_twice,
        twenty_sign_ins_of_an_earlier_identity_end_at_its_account,
        address_opens_nothing_where_it_does_not_link,
    }
    oauth_flows {
        a_state_gives_its_flow_back,
        a_state_comes_back_once,
        a_late_state_still_tells_where_it_leads,
        a_code_gives_its_identity_back,
        a_code_is_good_once_and_for_a_minute,
        a_wrong_verifier_burns_the_code,
        a_code_that_links_waits_for_its_session,
        another_session_burns_a_code_that_links,
        a_code_for_a_sign_in_asks_for_no_session,
        a_sign_in_that_would_be_refused_gets_no_code,
    }
    oauth_providers {
        a_provider_is_stored_as_given,
        a_key_is_of_one_provider,
        a_provider_is_replaced,
        of_two_concurrent_changes_one_is_refused,
        a_deleted_provider_leaves_identities_alone,
        every_change_increments_the_version,
    }
    oauth_races {
        of_twenty_racers_one_takes_the_flow,
        of_twenty_racers_one_takes_the_oauth_code,
        of_twenty_racers_one_signs_in_with_the_token,
        twenty_first_sign_ins_of_one_identity_end_at_one_account,
        twenty_identities_of_one_address_end_at_one_account,
        a_take_over_happens_once,
        of_twenty_accounts_one_links_the_identity,
        a_link_and_a_sign_in_end_at_one_account,
        of_twenty_concurrent_unlinks_one_way_to_sign_in_stays,
        a_way_to_sign_in_stays_while_the_password_is_removed,
    }
    races {
        of_twenty_racers_one_makes_the_account,
        of_twenty_pending_sign_ups_one_makes_the_account,
        of_twenty_racers_one_uses_the_code,
        twenty_guesses_at_once_are_counted_each,
        of_twenty_racers_one_signs_in_by_the_link_token,
        of_twenty_racers_one_exchanges_the_code,
        of_twenty_racers_one_reset_wins,
        of_twenty_racers_one_takes_the_username,
        of_twenty_racers_one_changes_the_version,
        of_twenty_edits_at_once_none_is_lost,
        of_twenty_racers_one_makes_the_missing_profile,
        the_last_token_of_a_bucket_is_taken_once,
        ten_failures_at_once_are_free_and_no_more,
        of_twenty_guesses_at_once_the_right_one_counts_only_in_time,
        of_twenty_instances_one_makes_the_signing_key,
        of_twenty_rotations_one_wins,
        no_mail_is_claimed_twice,
        twenty_refreshes_at_once_make_one_lineage,
    }
}
