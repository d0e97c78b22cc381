// Durations and sizes in readable notation: '2 weeks', '10 seconds', 60000; '10GB', '100MB', 4096.

const MILLISECONDS: Record<string, number> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
}

const BYTES: Record<string, number> = { b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30, tb: 2 ** 40 }

/** Milliseconds of `2 weeks`, `1 day 12 hours`, `250 ms` or a number of milliseconds; null if it is invalid. */
export function parseDuration(value: unknown): number | null {
  return parseQuantity(value, (unit) => MILLISECONDS[unit] ?? MILLISECONDS[unit.replace(/s$/, '')])
}

/** Bytes of `10GB`, `1TB 512MB` or a number of bytes (1 KB is 1024 bytes); null if it is invalid. */
export function parseSize(value: unknown): number | null {
  return parseQuantity(value, (unit) => BYTES[unit.replace(/ib$/, 'b')] ?? BYTES[`${unit}b`])
}

function parseQuantity(value: unknown, factorOf: (unit: string) => number | undefined): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.round(value) : null
  if (typeof value !== 'string') return null
  const text = value.trim().toLowerCase()
  if (/^\d+$/.test(text)) return safe(Number(text))
  if (!/^(\d+(\.\d+)?\s*[a-z]+[\s,]*)+$/.test(text)) return null
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const factor = factorOf(unit ?? '')
    if (factor === undefined) return null
    total += Number(amount) * factor
  }
  return safe(Math.round(total))
}

function safe(value: number): number | null {
  return Number.isSafeInteger(value) ? value : null
}
