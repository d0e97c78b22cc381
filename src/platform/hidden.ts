// Takes what opens something out of texts that are logged: secret parameters of addresses, and tokens of headers.

/** Of names; bounded, so that a hostile text takes no longer than an honest one. */
const PART = String.raw`[^=&#?\s"'<>\\]{0,60}`

/** Query parameters that open something to whoever holds them. */
const SECRET_PARAMETERS = new RegExp(
  String.raw`([?&](?:${PART}(?:token|password|secret|jwt|verification|signature|credential)${PART}|upload_id|code|otp)=)[^&#\s"'<>\\]*`,
  'gi',
)

const TOKENS = /\b(Bearer) {1,4}[\w.~+/-]{16,}=*/gi

/** The text without the values of secret parameters of addresses, and without tokens of `Authorization`. */
export function hideSecrets(text: string): string {
  const open = text.includes('=') ? text.replace(SECRET_PARAMETERS, '$1[hidden]') : text
  return open.replace(TOKENS, '$1 [hidden]')
}
