// Redacts secrets in texts that are logged or shown: secret parameters and credentials of addresses, and tokens of headers.

/** Part of a name; bounded, so that a hostile text takes no longer than an honest one. */
const PART = String.raw`[^=&#?\s"'<>\\]{0,60}`
const SECRET_PARTS = 'token|passw|passkey|secret|jwt|verification|signature|credential|(?:api|access|auth|stream|private)_?key|session_?id'
const SECRET_NAMES = 'upload_id|code|otp|key|pass|sig|sid|auth|session'

/** Parameters, in queries and fragments, that grant access to anybody who has them. */
const SECRET_PARAMETERS = new RegExp(String.raw`([?&#](?:${PART}(?:${SECRET_PARTS})${PART}|${SECRET_NAMES})=)[^&#\s"'<>\\]*`, 'gi')

/** Anybody who has the link in a mail can unsubscribe. */
const UNSUBSCRIBE_LINKS = /(\/unsubscribe\/\d{1,20}\/\w{1,60}\/)[0-9a-f]+/gi

const CREDENTIALS = /(:\/\/)[^\s/@"'<>\\]{1,300}@/g

/** Short ones too; lower-case letters after `Basic` are a word. */
const TOKENS = /\b(bearer) {1,4}(?!auth)[\w.~+/-]{6,}=*/gi
const PASSWORDS = /\b([Bb]asic) {1,4}(?=[a-z]{0,80}[A-Z\d=])[\w.~+/-]{6,}=*/g

/** The text without the values of secret parameters, the credentials of addresses, and tokens of `Authorization`. */
export function redactSecrets(text: string): string {
  const open = text.includes('=') ? text.replace(SECRET_PARAMETERS, '$1[hidden]') : text
  return open
    .replace(UNSUBSCRIBE_LINKS, '$1[hidden]')
    .replace(CREDENTIALS, '$1[hidden]@')
    .replace(TOKENS, '$1 [hidden]')
    .replace(PASSWORDS, '$1 [hidden]')
}
