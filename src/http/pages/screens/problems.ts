// What is wrong with a field, from the English messages of the API.

import { Localized, recognized, t } from '../../../platform/language.ts'
import { size } from '../bodies/text.ts'

type Say = (count: number) => Localized

/** Limits of zod (its `locales/en`), by what is wrong and the type. */
const LIMIT = /^Too (small|big): expected (string|number|int|bigint|array|set) to (?:have|be) [<>]=(-?[\d.]+)/
const LIMITS: Readonly<Record<string, Say>> = {
  'small string': (count) => t('At least {count, plural, one {# character} other {# characters}}.', { count }),
  'big string': (count) => t('At most {count, plural, one {# character} other {# characters}}.', { count }),
  'small number': (count) => t('At least {count}.', { count }),
  'big number': (count) => t('At most {count}.', { count }),
  'small array': (count) => t('At least {count, plural, one {# entry} other {# entries}}.', { count }),
  'big array': (count) => t('At most {count, plural, one {# entry} other {# entries}}.', { count }),
}
/** Its other messages; more are texts of the schemas. */
const CHECKS: readonly (readonly [RegExp, Say])[] = [
  [/^Invalid input: expected (?:number|int|bigint), /, () => t('A number is needed.')],
  [/^Should be a file of at most (\d+) bytes$/, (bytes) => t('At most {size}.', { size: size(bytes) })],
  [/^Invalid (?:input|option|value|ISO datetime|string|URL|email address)\b/, () => t('This value is not possible here.')],
]

export function problemOf(message: string | Localized): Localized {
  if (message instanceof Localized) return message
  const [, wrong, type = '', limit] = LIMIT.exec(message) ?? []
  const say = LIMITS[`${wrong} ${{ int: 'number', bigint: 'number', set: 'array' }[type] ?? type}`]
  if (say) return say(Number(limit))
  for (const [pattern, say] of CHECKS) {
    const found = pattern.exec(message)
    if (found) return say(Number(found[1]))
  }
  return recognized(message)
}
