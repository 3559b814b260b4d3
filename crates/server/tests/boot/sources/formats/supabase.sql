--
-- PostgreSQL database dump
--

SET statement_timeout = 0;

COPY auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token, confirmation_sent_at, recovery_token, recovery_sent_at, email_change_token_new, email_change, email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, phone, phone_confirmed_at, phone_change, phone_change_token, phone_change_sent_at, confirmed_at, email_change_token_current, email_change_confirm_status, banned_until, reauthentication_token, reauthentication_sent_at, is_sso_user, deleted_at, is_anonymous) FROM stdin;
00000000-0000-0000-0000-000000000000	4bc0f6ad-bdc8-5087-a89f-1ee2406b28ab	authenticated	authenticated	supabase-dump@example.org	$2a$05$LjAcy0eWC1IygaxVTp4cVu1Wl.w5jqoo1NxtWwwwIcZUApMwyb/1a	2024-03-01 12:00:00.123456+00	\N		\N		\N			\N	2024-03-01 12:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"sub": "4bc0f6ad-bdc8-5087-a89f-1ee2406b28ab", "email": "supabase-dump@example.org", "email_verified": true, "phone_verified": false}	\N	2024-03-01 12:00:00.123456+00	2024-03-01 12:00:00.123456+00	\N	\N			\N	2024-03-01 12:00:00.123456+00		0	\N		\N	f	\N	f
\.
