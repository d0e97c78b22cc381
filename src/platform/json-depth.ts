// How deeply a JSON text is nested. Read by the processes of plugins too: nothing is imported here.

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}')
/** No text of the API has more than ten levels. */
const DEEPEST = 100

/** True if it is nested so deeply that `JSON.parse` takes too much memory and time, and that `JSON.stringify` may throw afterwards. */
export function isDeep(json: Buffer): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (isText && byte === BACKSLASH) at += 1
    else if (byte === QUOTE) isText = !isText
    else if (!isText && (byte === OPEN_ARRAY || byte === OPEN_OBJECT)) {
      depth += 1
      if (depth > DEEPEST) return true
    } else if (!isText && (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) depth -= 1
  }
  return false
}
