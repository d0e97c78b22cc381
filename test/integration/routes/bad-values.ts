// Values that some schema refuses: of each type, too long, too large, and with special characters.

const lengths = [2, 31, 51, 101, 121, 256, 501, 1001, 3001, 5001, 10_001]

const texts = [
  '',
  ' ',
  'x',
  'no such value',
  'null',
  'true',
  'undefined',
  'NaN',
  '-1',
  '0',
  '1.5',
  '1e3',
  '0x10',
  '+1',
  ' 1',
  '2147483648',
  '9007199254740993',
  '99999999999999999999',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '-',
  ...lengths.map((length) => 'x'.repeat(length)),
]

const NUL = '\0'
const LONE_SURROGATE = '\uD800'
const tricks = [
  NUL,
  `long enough${NUL}`,
  LONE_SURROGATE,
  `long enough${LONE_SURROGATE}`,
  '\uDC00\uD800',
  // Right-to-left override, zero-width joiner, byte order mark, full-width and Arabic digits.
  ...['\u202E1', '1\u200D', '\uFEFF1', '\uFF11\uFF12', '\u0661\u0662', 'TRUE', '\uFF54rue'],
]

/** Values for JSON bodies. */
export const jsonValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  99,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e300,
  ...texts,
  ...tricks,
  [],
  [null],
  [[]],
  [{}],
  [0],
  [''],
  ['x'],
  Array(1001).fill('long enough'),
  Array(3).fill('the same'),
  {},
  { x: 1 },
  { length: 3 },
  { toString: 'x' },
]

export type FormValue = string | readonly string[] | Readonly<Record<string, string>>

/** Values for queries and forms. */
export const formValues: readonly FormValue[] = [
  ...texts,
  ...tricks,
  ['', ''],
  ['x', 'x'],
  ['no such value', 'nor this'],
  Array(101).fill('long enough'),
  { x: '1' },
  { length: '3' },
]

/** Values for path segments. */
export const pathValues: readonly string[] = [...texts.filter((text) => text !== '' && text.length < 400), ...tricks]

/** Fits into a body, and reveals regular expressions that backtrack. */
export const LONG_AND_HOSTILE = `${'a'.repeat(100_000)}${'.a_-'.repeat(50_000)}!\u0000`

/** Longer than any accepted value. */
export const MEGABYTE = 'x'.repeat(1024 * 1024)
