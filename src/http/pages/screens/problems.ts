// What is wrong with a field, from the English messages of the API.

import { Localized, recognized, t } from '../../../platform/language.ts'
import { size } from '../bodies/text.ts'
import type { Refusal } from './api.ts'

type Say = (count: number) => Localized

/** Messages of zod's checks (its `locales/en`); others are texts of the schemas. */
const CHECKS: readonly (readonly [RegExp, Say])[] = [
  [
    /^Too small: expected string to have >=(\d+) characters$/,
    (count) => t('At least {count, plural, one {# character} other {# characters}}.', { count }),
  ],
  [
    /^Too big: expected string to have <=(\d+) characters$/,
    (count) => t('At most {count, plural, one {# character} other {# characters}}.', { count }),
  ],
  [/^Too small: expected (?:number|int|bigint) to be >=(-?[\d.]+)$/, (count) => t('At least {count}.', { count })],
  [/^Too big: expected (?:number|int|bigint) to be <=(-?[\d.]+)$/, (count) => t('At most {count}.', { count })],
  [
    /^Too small: expected (?:array|set) to have >=(\d+) items$/,
    (count) => t('At least {count, plural, one {# entry} other {# entries}}.', { count }),
  ],
  [
    /^Too big: expected (?:array|set) to have <=(\d+) items$/,
    (count) => t('At most {count, plural, one {# entry} other {# entries}}.', { count }),
  ],
  [/^Invalid input: expected (?:number|int|bigint), /, () => t('A number is needed.')],
  [/^Should be a file of at most (\d+) bytes$/, (bytes) => t('At most {size}.', { size: size(bytes) })],
  [/^Invalid (?:input|option|value|ISO datetime|string|URL|email address)\b/, () => t('This value is not possible here.')],
]

export function problemOf(message: string | Localized): Localized {
  if (message instanceof Localized) return message
  for (const [pattern, say] of CHECKS) {
    const found = pattern.exec(message)
    if (found) return say(Number(found[1]))
  }
  return recognized(message)
}

/** A refusal in one text, for scripts. */
export const saidOf = ({ detail, fields }: Refusal): Localized =>
  new Localized(
    (language) =>
      [...fields].map(([name, message]) => `${name}: ${problemOf(message).in(language)}`).join(', ') || recognized(detail).in(language),
  )
