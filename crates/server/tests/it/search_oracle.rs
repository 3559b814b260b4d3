//! Test of the search against a reference: random profiles and queries in many scripts over HTTP, compared with a full
//! scan. The scan uses none of the service's folding or matching: each piece of text is listed with its folded form.

use std::cmp::Reverse;

use latchkey_testkit::{TestApp, User, Value, both_stores, json, seconds};

const ME: &str = "/api/profiles/me";

/// Piece of text with its folded form.
type Piece = (&'static str, &'static str);

/// Pieces of text. They are few, so that they often match, and of every kind that is difficult for folding or an index.
/// No two folded pieces compose at their boundary.
const PIECES: &[Piece] = &[
    ("a", "a"),
    ("A", "a"),
    ("Ａ", "a"),
    ("𝔞", "a"),
    ("ª", "a"),
    ("á", "a"),
    ("a\u{30a}", "a"),
    ("b", "b"),
    ("B", "b"),
    ("ab", "ab"),
    ("ba", "ba"),
    ("e", "e"),
    ("É", "e"),
    ("e\u{301}\u{323}", "e"),
    ("ß", "ss"),
    ("ẞ", "ss"),
    ("ss", "ss"),
    ("SS", "ss"),
    ("ſs", "ss"),
    ("i", "i"),
    ("I", "i"),
    ("İ", "i"),
    ("ı", "ı"),
    ("Ⅷ", "viii"),
    ("viii", "viii"),
    ("K", "k"),
    ("k", "k"),
    ("ﬁ", "fi"),
    ("fi", "fi"),
    ("ﬃ", "ffi"),
    ("ffi", "ffi"),
    ("Æ", "æ"),
    ("æ", "æ"),
    ("ø", "ø"),
    ("Ø", "ø"),
    ("Σ", "σ"),
    ("ς", "σ"),
    ("σ", "σ"),
    ("Ё", "е"),
    ("е", "е"),
    ("Ж", "ж"),
    ("ж", "ж"),
    ("ꭰ", "Ꭰ"),
    ("Ꭰ", "Ꭰ"),
    ("計", "計"),
    ("算", "算"),
    ("機", "機"),
    ("한", "한"),
    ("ガ", "カ"),
    ("ｶﾞ", "カ"),
    ("カ", "カ"),
    ("का", "का"),
    ("ﷲ", "الله"),
    ("الله", "الله"),
    ("א", "א"),
    ("🙂", "🙂"),
    ("👩\u{200d}💻", "👩💻"),
    ("👩💻", "👩💻"),
    ("①", "1"),
    ("²", "2"),
    ("1", "1"),
    ("2", "2"),
    ("0", "0"),
    ("\u{200b}", ""),
    ("\u{ad}", ""),
    ("\u{301}", ""),
    ("\u{fe0f}", ""),
    ("\u{202e}", ""),
    ("\u{feff}", ""),
    ("%", "%"),
    ("_", "_"),
    ("*", "*"),
    ("\"", "\""),
    ("'", "'"),
    ("^", "^"),
    ("-", "-"),
    ("+", "+"),
    ("(", "("),
    (")", ")"),
    (":", ":"),
    ("\\", "\\"),
    (".", "."),
    ("…", "..."),
    ("and", "and"),
    ("OR", "or"),
    ("NOT", "not"),
    ("NEAR", "near"),
    ("½", "1⁄2"),
];
const SPACES: &[Piece] =
    &[(" ", " "), ("  ", " "), ("\u{a0}", " "), ("\u{3000}", " "), ("\u{2003}", " "), ("\u{1680}", " ")];
/// Pieces of usernames, which are not changed by folding.
const HANDLES: &[&str] = &["a", "b", "ab", "e", "fi", "ss", "1", "-", "_", "."];

/// Reproducible random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Random text of at most this many words, each of at most this many pieces.
    fn text(&mut self, words: usize, pieces: usize) -> Text {
        let mut text = Text::default();
        for _ in 0..self.below(words + 1) {
            for _ in 0..=self.below(pieces) {
                text.0.push(self.pick(PIECES));
            }
            text.0.push(self.pick(SPACES));
        }
        text
    }

    /// Random neighbouring pieces of a text, some in another spelling with the same folded form.
    fn cut(&mut self, text: &Text) -> Text {
        let start = self.below(text.0.len() + 1);
        let end = (start + 1 + self.below(7)).min(text.0.len());
        let respell = |dice: &mut Self, piece: &Piece| {
            let alike: Vec<_> =
                PIECES.iter().chain(SPACES).filter(|other| other.1 == piece.1).copied().collect();
            if alike.is_empty() { *piece } else { dice.pick(&alike) }
        };
        Text(text.0[start..end].iter().map(|piece| respell(self, piece)).collect())
    }
}

/// Text as a list of pieces.
#[derive(Clone, Default)]
struct Text(Vec<Piece>);

impl Text {
    fn raw(&self) -> String {
        self.0.iter().map(|piece| piece.0).collect()
    }

    /// Folded words of the text.
    fn words(&self) -> Vec<String> {
        let folded: String = self.0.iter().map(|piece| piece.1).collect();
        folded.split_whitespace().map(str::to_owned).collect()
    }
}

/// Profile as the scan knows it.
struct Known {
    user: User,
    id: String,
    created_at: String,
    name: Text,
    username: String,
    bio: Text,
}

impl Known {
    /// True if a folded word of the query occurs in the profile.
    fn has(&self, word: &str) -> bool {
        let is_short = word.chars().count() <= 2;
        let fields = [self.name.words(), vec![self.username.clone()], self.bio.words()];
        fields.iter().flatten().any(|w| if is_short { w.starts_with(word) } else { w.contains(word) })
    }

    /// Rank of a match: 0 if name or username equals the query, 1 if one begins with it, 2 otherwise.
    fn tier(&self, query: &[String]) -> u8 {
        let whole = query.join(" ");
        let heads = [self.name.words().join(" "), self.username.clone()];
        if heads.contains(&whole) {
            return 0;
        }
        if heads.iter().any(|head| head.starts_with(&whole)) { 1 } else { 2 }
    }
}

/// Expected matches in order: by rank, then newest first, then by descending id.
fn scan<'a>(known: &'a [Known], query: &[String]) -> Vec<&'a str> {
    let mut hits: Vec<_> =
        known.iter().filter(|profile| query.iter().all(|word| profile.has(word))).collect();
    hits.sort_by_key(|hit| (hit.tier(query), Reverse(&hit.created_at), Reverse(&hit.id)));
    hits.into_iter().map(|hit| hit.id.as_str()).collect()
}

/// Writes random texts into a profile. The number keeps usernames unique.
async fn rewritten(dice: &mut Dice, user: User, number: usize) -> Known {
    let (name, bio) = (dice.text(3, 4), dice.text(6, 4));
    let handle: String = (0..dice.below(4)).map(|_| dice.pick(HANDLES)).collect();
    let username = format!("{handle}x{number:02}");

    let fields = json!({"name": name.raw(), "bio": bio.raw(), "username": username});
    let record = user.patch(ME, fields).send().await.expect(200);

    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Known { id: text(&record["id"]), created_at: text(&record["created_at"]), user, name, username, bio }
}

/// Query as it is sent, with its folded words.
struct Query {
    raw: String,
    words: Vec<String>,
}

impl From<Text> for Query {
    fn from(text: Text) -> Self {
        Self { raw: text.raw(), words: text.words() }
    }
}

/// Random query, made of pieces or taken from a profile.
fn query(dice: &mut Dice, known: &[Known]) -> Query {
    let profile = &known[dice.below(known.len())];
    match dice.below(6) {
        0 | 1 => dice.text(2, 2).into(),
        2 => profile.name.clone().into(),
        3 => dice.cut(&profile.name).into(),
        4 => dice.cut(&profile.bio).into(),
        _ => {
            let start = dice.below(profile.username.len());
            let end = start + 1 + dice.below(profile.username.len() - start);
            let part = profile.username[start..end].to_owned();
            Query { raw: part.to_uppercase(), words: vec![part] }
        }
    }
}

/// Requests one page, and compares the page and its headers with the scan.
async fn compare(app: &TestApp, dice: &mut Dice, known: &[Known], query: &Query) -> usize {
    let (limit, offset) = (1 + dice.below(30), if dice.below(2) == 0 { 0 } else { dice.below(12) });
    let words = &query.words;
    let request = app.anon().search(&query.raw).query("limit", &limit.to_string());
    let answer = request.query("offset", &offset.to_string()).send().await;
    if words.is_empty() {
        answer.refused(400, "MISSING_QUERY");
        return 0;
    }

    let expected = scan(known, words);
    let found = answer.expect(200);
    let ids: Vec<_> = found.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    let page: Vec<_> = expected.iter().skip(offset).take(limit).copied().collect();
    assert_eq!(ids, page, "{:?} as {words:?}, {limit} from {offset}", query.raw);
    let headers = ["x-total-count", "x-page", "x-page-size"].map(|name| answer.number(name));
    assert_eq!(headers, [expected.len(), offset / limit + 1, limit].map(|number| number as u64));
    expected.len()
}

/// Creates users, always three with the same creation time.
async fn population(app: &TestApp, dice: &mut Dice, count: usize) -> Vec<Known> {
    let mut known = Vec::new();
    for number in 0..count {
        if number % 3 == 0 {
            app.clock.advance(seconds(1));
        }
        let user = app.user(&format!("user{number}")).await;
        known.push(rewritten(dice, user, number).await);
    }
    known
}

both_stores! {
    async fn search_finds_what_a_plain_scan_finds(app) {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let known = population(&app, &mut dice, 90).await;

        let mut hits = 0;
        for _ in 0..900 {
            let query = query(&mut dice, &known);
            hits += compare(&app, &mut dice, &known, &query).await;
        }

        assert!(hits > 1_000, "too few hits to say anything: {hits}");
    }

    async fn search_follows_every_change(app) {
        let mut dice = Dice(0x2545_f491_4f6c_dd1d);
        let mut known = population(&app, &mut dice, 30).await;

        for round in 0..60 {
            let gone = known.swap_remove(dice.below(known.len()));
            match dice.below(6) {
                0 if known.len() > 15 => {
                    let path = format!("/api/auth/users/{}/profile", gone.user.id);
                    app.admin().delete(&path).send().await.expect(200);
                }
                1 if known.len() > 15 => {
                    let body = json!({"userIds": [gone.user.id]});
                    app.admin().delete("/api/auth/users").json(&body).send().await.expect(200);
                }
                _ => known.push(rewritten(&mut dice, gone.user, 1_000 + round).await),
            }
            for _ in 0..6 {
                let query = query(&mut dice, &known);
                compare(&app, &mut dice, &known, &query).await;
            }
        }
    }
}
