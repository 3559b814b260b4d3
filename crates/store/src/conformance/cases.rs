//! The one list of cases, by room. It makes [`cases`] and the macro [`crate::conformance_tests`]; a case that is not
//! listed is dead code to the compiler.

use super::Case;
use super::fixtures::World;

/// Makes both out of the list. `$dollar` is a `$`: the only way to write one into the macro that comes out.
macro_rules! table {
    ($dollar:tt $($room:ident { $($case:ident,)* })*) => {
        /// Every case, in the order of the rooms.
        #[must_use]
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                name: concat!(stringify!($room), "::", stringify!($case)),
                run: |store| Box::pin(super::$room::$case(World::new(store))),
            },)*)*]
        }

        /// Makes a test of every case. Takes the name of an async function without arguments, in the scope of the
        /// call, that answers with an empty store (`Arc<dyn Store>`) and whatever has to live as long as it.
        #[macro_export]
        macro_rules! conformance_tests {
            ($dollar make:ident) => {
                $(
                    mod $room {
                        $(
                            #[tokio::test(flavor = "multi_thread")]
                            async fn $case() {
                                let (store, _guard) = super::$dollar make().await;
                                let name = concat!(stringify!($room), "::", stringify!($case));
                                $dollar crate::conformance::run(name, store).await;
                            }
                        )*
                    }
                )*
            };
        }
    };
}

table! { $
    accounts {
        an_account_is_made_as_it_was_given,
        an_account_is_found_by_its_address_without_case,
        nobody_is_found_where_nobody_is,
        an_account_can_be_without_profile_and_password,
        an_account_comes_with_its_profile,
        an_account_comes_with_its_session,
        an_account_comes_with_its_event,
        a_taken_address_makes_nothing,
    }
    sign_up {
        what_stands_at_an_address_is_told,
        a_free_address_becomes_a_pending_account,
        a_pending_account_is_verified_by_its_code,
        a_repeated_sign_up_renews_the_challenge,
        a_repeated_sign_up_supersedes_the_link,
        another_password_makes_the_address_contested,
        a_contested_address_stays_contested,
        a_hash_under_another_salt_is_asked_for_again,
        the_owner_of_a_verified_address_is_told,
        an_unverified_account_that_is_not_pending_never_changes,
        a_banned_owner_gets_no_mail,
        a_sign_up_changes_no_other_account,
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
        challenges_of_two_purposes_live_side_by_side,
        addresses_without_a_claim_get_neither_code_nor_mail,
        an_account_made_after_a_decoy_gains_nothing,
        a_banned_account_is_refused,
        verification_keeps_the_sessions_that_were_there,
    }
    links {
        an_opened_link_verifies_and_signs_nobody_in,
        an_opened_link_is_audited_with_its_user,
        a_link_opened_again_is_good_until_it_expires,
        an_expired_link_verifies_nobody,
        a_superseded_link_verifies_nobody,
        an_unknown_link_is_unknown,
        a_link_of_an_address_without_an_account_is_unknown,
        looking_at_a_link_changes_nothing,
        a_link_can_be_without_a_redirect,
        a_token_opens_nothing_for_another_address,
        a_token_signs_in_where_it_verifies,
        a_token_signs_in_once,
        a_token_signs_nobody_in_after_a_browser_verified,
        a_used_token_signs_nobody_in_after_the_address_was_unverified,
        a_verification_consumes_the_other_challenge,
        a_link_dies_with_the_address_it_proved,
        a_reset_link_is_good_any_number_of_times,
        a_newer_reset_link_replaces_the_older,
        a_used_reset_link_is_told_as_used,
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
    separation {
        a_code_of_one_account_opens_no_other,
        a_code_of_one_purpose_serves_no_other,
        attempts_count_by_account_and_by_purpose,
        a_verify_link_resets_no_password,
        a_reset_token_verifies_no_address,
        a_reset_changes_no_other_account,
        a_new_challenge_ends_no_challenge_of_another_account,
        an_address_given_away_takes_no_challenge_along,
        an_address_given_back_revives_no_challenge,
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
    }
    guards {
        the_tenth_failure_blocks_account_and_client,
        the_delay_grows_with_each_further_failure,
        a_failure_while_blocked_is_answered_with_the_limit,
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
    sessions {
        an_unknown_session_does_not_live,
        a_session_ends_when_it_was_idle_too_long,
        a_session_ends_when_it_is_too_old,
        living_sessions_are_listed_newest_first,
        a_user_ends_one_session,
        nobody_ends_the_session_of_another,
        a_user_ends_all_other_sessions,
        a_refresh_token_ends_its_session,
        a_just_replaced_token_ends_its_session_too,
        a_stale_or_foreign_token_ends_no_session,
        an_event_is_written_where_a_session_ended,
        an_expired_session_is_not_ended_again,
        a_ban_and_a_deletion_end_sessions_at_once,
        a_thousand_sessions_are_listed_at_the_most,
    }
    refresh {
        a_refresh_replaces_the_token,
        a_replaced_token_gets_the_same_successor_in_its_grace,
        after_the_successors_first_use_a_replay_is_refused,
        a_replay_after_the_grace_ends_the_session,
        reuse_of_any_earlier_token_ends_the_session,
        a_refresh_that_ends_nothing_writes_no_reuse,
        an_ended_session_has_no_grace,
        a_session_slides_until_it_was_idle_too_long,
        no_refresh_outlives_the_absolute_end,
        a_token_of_no_session_is_refused,
        a_banned_user_refreshes_nothing,
        a_good_token_is_told_without_a_change,
        the_grace_window_ends_with_its_last_millisecond,
        an_expired_session_is_refused_and_not_revoked,
    }
    refresh_model {
        rotation_agrees_with_the_policy_on_seeded_walks,
    }
    profiles {
        every_field_is_kept_as_given,
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
        nobodys_profile_is_not_made,
        custom_fields_are_bounded_together,
        a_clock_that_steps_back_turns_no_profile_younger,
    }
    search {
        every_word_may_occur_in_another_field,
        a_hit_is_the_whole_profile,
        better_tiers_come_first_and_newer_ones_in_a_tier,
        an_edit_makes_no_profile_newer,
        profiles_of_one_moment_are_ordered_by_id_descending,
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
        what_search_shows_is_told_as_it_changes,
        who_is_banned_deleted_or_pending_is_hidden,
        a_late_follower_finds_what_is_there,
        found_profiles_come_in_the_order_of_the_question,
        a_position_of_somewhere_else_is_lost,
        who_was_away_for_days_is_told_or_misses_nothing,
        a_follower_misses_nothing_while_twenty_write,
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
        a_dead_mail_is_kept_and_not_claimed,
        dead_mails_are_tried_again_on_demand,
        the_next_due_mail_is_the_earliest_queued_or_leased,
        mails_are_listed_newest_first_and_by_state,
        a_listed_mail_tells_the_operator_enough,
        mails_die_with_their_user,
    }
    limits {
        a_bucket_gives_its_burst_and_no_more,
        tokens_are_taken_from_all_buckets_or_from_none,
        every_key_has_a_bucket_of_its_own,
        nothing_to_take_is_never_refused,
        a_limited_sign_up_begins_nothing,
        a_limited_sign_in_begins_nothing,
        a_limited_request_changes_nothing,
        a_request_takes_its_tokens_for_known_and_unknown_alike,
        a_limited_attempt_is_not_counted,
        a_limited_exchange_is_not_counted,
        a_limited_link_is_not_opened,
        every_look_at_a_link_takes_its_token,
        a_limited_reset_begins_nothing,
    }
    settings {
        a_fresh_store_answers_and_has_no_settings,
        settings_are_kept_sorted_by_key,
        a_setting_is_replaced_and_reset,
        every_change_grows_the_version,
        a_change_of_settings_is_audited,
    }
    signing_keys {
        the_first_key_signs,
        a_rotated_key_signs_and_the_one_before_is_accepted_for_a_while,
        several_former_keys_are_accepted_side_by_side,
        a_rotation_of_another_key_than_the_one_that_signs_changes_nothing,
        changes_of_keys_grow_the_shared_version,
        a_rotation_is_audited,
    }
    audit {
        an_event_is_kept_as_given,
        every_kind_of_event_is_kept,
        events_come_newest_first_in_pages,
        a_last_full_page_is_the_last,
        an_event_that_comes_in_moves_no_page,
        events_outlive_their_user,
    }
    users {
        users_are_listed_newest_first,
        pages_by_offset_and_by_cursor_are_the_same,
        a_last_full_page_has_no_more,
        a_cursor_stays_right_while_users_come_and_go,
        users_are_searched_by_address_name_and_id,
        a_search_is_paged_like_the_whole,
        deleted_users_are_gone_with_all_that_is_theirs,
        a_freed_address_begins_anew,
        nobody_is_deleted_where_nobody_is_named,
        an_admin_ends_all_sessions,
        an_admin_deletes_a_profile_once,
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
        what_is_not_named_stays,
        nobody_is_changed_where_nobody_is,
        every_event_of_a_change_is_written_with_its_user,
    }
    purge {
        a_fresh_store_has_nothing_to_purge,
        what_is_alive_is_not_purged,
        accounts_settings_keys_and_audit_are_never_purged,
        expired_and_used_links_are_told_for_seven_days,
        sent_mails_are_kept_for_seven_days_and_dead_ones_longer,
        ended_sessions_go_after_seven_days,
        decoys_are_purged,
        a_bucket_that_is_not_full_yet_is_kept,
        failures_that_count_are_kept,
        the_attempts_of_an_hour_are_kept,
        a_known_client_stays_known_for_thirty_days,
        a_forgiven_moment_survives_a_purge,
        a_purge_takes_a_few_thousand_rows_at_a_call,
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
