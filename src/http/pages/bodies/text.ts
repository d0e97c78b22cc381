// Dates, counts, sizes and durations in the reader's language.

import { languageLabels } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { inNumbers, known, Localized, t } from '../../../platform/language.ts'
import { cut } from '../heads/index.ts'

export const day = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${new Localized((language) => language.day(date))}</time>`

/** Day and time, in UTC. */
export const moment = (date: Date): Localized => new Localized((language) => `${language.day(date)}, ${language.time(date)} UTC`)

/** A number with its noun. */
export const counted = {
  comments: (count: number) => t('{count, plural, one {# comment} other {# comments}}', { count }),
  likes: (count: number) => t('{count, plural, one {# like} other {# likes}}', { count }),
  minutes: (count: number) => t('{count, plural, one {# minute} other {# minutes}}', { count }),
  replies: (count: number) => t('{count, plural, one {# reply} other {# replies}}', { count }),
  subscribers: (count: number) => t('{count, plural, one {# subscriber} other {# subscribers}}', { count }),
  words: (count: number) => t('{count, plural, one {# word} other {# words}}', { count }),
  videos: (count: number) => t('{count, plural, one {# video} other {# videos}}', { count }),
  views: (count: number) => t('{count, plural, one {# view} other {# views}}', { count }),
}

export const languageName = (code: string): Localized =>
  new Localized((language) => language.nameOf(code) ?? known(languageLabels[code] ?? code).in(language))

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** Bytes, in powers of 1000. */
export function size(bytes: number): Localized {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const amount = bytes / 1000 ** power
  return inNumbers(amount, {
    style: 'unit',
    unit: UNITS[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: amount < 10 ? 1 : 0,
  })
}

/** Seconds as `1:02:03`. */
export function clock(seconds: number): string {
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, '0'))
  return parts.join(':').replace(/^00:0?|^0/, '')
}

/** The tag `a` of a message, with its address. */
export const linkTo = (href: string) => ({ a: (inside: Html) => html`<a href="${href}">${inside}</a>` })

/** A text in a row of a list: 300 characters, and fewer if their HTML takes more than 900 bytes. */
export function shortText(text: string): string {
  const kept = cut(text, 300)
  const bytes = Buffer.byteLength(html`${kept}`.text)
  return bytes <= 900 ? kept : cut(kept, Math.floor((kept.length * 900) / bytes))
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
