//! A form with a file, as browsers send it: `multipart/form-data` (RFC 7578).

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use form_urlencoded::Serializer;
use futures_util::stream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use latchkey_domain::reason::Reason;
use multer::{Field, Multipart, parse_boundary};

use super::read;
use crate::error::{ApiError, Result, codes};
use crate::query::{MOST_PARAMETERS, Query};
use crate::settings::{RouterState, UPLOAD_TIME};

/// A form with at most one file, of at most `upload_limit` bytes, beside fields of at most `body_limit` bytes together.
pub struct UploadForm {
    /// The other fields, each once. What is in the query string is no field.
    pub fields: Query,
    /// The file; `None` if none was chosen.
    pub file: Option<UploadedFile>,
}

/// A file of a form.
pub struct UploadedFile {
    /// Name that the browser gave, which may be anything.
    pub name: String,
    pub bytes: Bytes,
}

impl UploadForm {
    /// True if a body is declared as such a form.
    #[must_use]
    pub fn is_declared(headers: &HeaderMap) -> bool {
        boundary(headers).is_some()
    }
}

impl<S: RouterState> FromRequest<S> for UploadForm {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let settings = state.http_settings();
        let (parts, body) = request.into_parts();
        let limit = settings.upload_limit.saturating_add(settings.body_limit);
        let bytes = read::read(&parts.headers, body, limit, UPLOAD_TIME).await?;
        let boundary = boundary(&parts.headers)
            .ok_or_else(|| ApiError::of_status(http::StatusCode::UNSUPPORTED_MEDIA_TYPE))?;
        let (fields, file) = parse(bytes, boundary, settings.body_limit).await?;
        if file.as_ref().is_some_and(|file| file.bytes.len() > settings.upload_limit) {
            return Err(ApiError::of_status(http::StatusCode::PAYLOAD_TOO_LARGE));
        }
        Ok(Self { fields: Query::parse(&fields)?.each_once()?, file })
    }
}

/// Returns the boundary of a form that is declared once and has no content coding.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (declared, None) = (types.next()?, types.next()) else { return None };
    if headers.contains_key(CONTENT_ENCODING) {
        return None;
    }
    parse_boundary(declared.to_str().ok()?).ok()
}

/// Reads the fields as a query string, and the file.
async fn parse(bytes: Bytes, boundary: String, limit: usize) -> Result<(String, Option<UploadedFile>)> {
    let whole = stream::once(async move { Ok::<_, std::convert::Infallible>(bytes) });
    let mut form = Multipart::new(whole, boundary);
    let (mut fields, mut file, mut count, mut size) = (Vec::new(), None, 0, 0);
    while let Some(field) = form.next_field().await.map_err(malformed)? {
        count += 1;
        if count > MOST_PARAMETERS {
            return Err(too_many());
        }
        let name = field.name().ok_or_else(|| malformed("a field has no name"))?.to_owned();
        if field.file_name().is_some() {
            let found = uploaded(field).await?;
            if found.is_some() && file.is_some() {
                return Err(ApiError::validation(&name, "is given twice").reason(Reason::Duplicate));
            }
            file = found.or(file);
            continue;
        }
        let text = field.bytes().await.map_err(malformed)?;
        size += name.len() + text.len();
        if size > limit {
            return Err(ApiError::of_status(http::StatusCode::PAYLOAD_TOO_LARGE));
        }
        let text = String::from_utf8(text.into()).map_err(malformed)?;
        fields.push((name, text));
    }
    Ok((Serializer::new(String::new()).extend_pairs(fields).finish(), file))
}

/// Reads the file of a field. A browser sends an empty one without a name if none was chosen.
async fn uploaded(field: Field<'_>) -> Result<Option<UploadedFile>> {
    let name = field.file_name().unwrap_or_default().to_owned();
    let bytes = field.bytes().await.map_err(malformed)?;
    Ok((!name.is_empty() || !bytes.is_empty()).then_some(UploadedFile { name, bytes }))
}

fn malformed(_: impl std::fmt::Display) -> ApiError {
    ApiError::new(&codes::VALIDATION_ERROR, "The body is not a form with a file.").reason(Reason::Malformed)
}

fn too_many() -> ApiError {
    ApiError::new(&codes::VALIDATION_ERROR, "The form has more than 64 fields.").reason(Reason::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 &=2\r\n--x\r\nContent-Disposition: form-data; \
        name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\nemail\r\n\r\n--x--\r\n";

    async fn read(text: String) -> Result<(String, Option<UploadedFile>)> {
        parse(Bytes::from(text), "x".to_owned(), 1_000).await
    }

    #[tokio::test]
    async fn fields_and_file_are_read() {
        let (fields, file) = read(FORM.to_owned()).await.unwrap();
        assert_eq!(fields, "a=1+%26%3D2");
        let file = file.unwrap();
        assert_eq!((file.name.as_str(), &file.bytes[..]), ("a.csv", &b"email\r\n"[..]));
    }

    #[tokio::test]
    async fn file_that_was_not_chosen_is_none() {
        let empty = FORM.replace("a.csv", "").replace("email\r\n\r\n", "\r\n");
        assert!(read(empty).await.unwrap().1.is_none());
    }

    #[tokio::test]
    async fn torn_or_foreign_form_is_refused() {
        for end in [FORM.len() - 6, FORM.len() - 20, 30] {
            assert!(read(FORM[..end].to_owned()).await.is_err(), "{end}");
        }
        assert!(read(FORM.replace("--x", "--y")).await.is_err());
        assert!(read(FORM.replace("name=\"a\"", "")).await.is_err());
    }

    #[tokio::test]
    async fn second_file_and_large_fields_are_refused() {
        let part = FORM.split("--x\r\n").nth(2).unwrap().replace("--x--\r\n", "");
        let twice = FORM.replace("--x--", &format!("--x\r\n{part}--x--"));
        assert!(read(twice).await.is_err());
        assert!(read(FORM.replace("1 &=2", &"1".repeat(1_001))).await.is_err());
        let fields = "--x\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n\r\n".repeat(65);
        assert!(read(format!("{fields}--x--\r\n")).await.is_err());
    }

    #[test]
    fn form_is_known_by_its_declared_type() {
        let is = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, text.parse().unwrap());
            UploadForm::is_declared(&headers)
        };
        assert!(is("multipart/form-data; boundary=x") && is("multipart/form-data; boundary=\"a b\""));
        assert!(!is("multipart/form-data") && !is("application/x-www-form-urlencoded"));
    }
}
