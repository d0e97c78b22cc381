// Dates, counts and durations for people.

import { type Html, html } from '../../../platform/html.ts'

export const day = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${date.toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' })}</time>`

export const counted = (count: number, noun: string): string => `${count.toLocaleString('en')}\u00a0${noun}${count === 1 ? '' : 's'}`

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes, in powers of 1000. */
export function size(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const amount = bytes / 1000 ** power
  return `${amount.toLocaleString('en', { maximumFractionDigits: amount < 10 ? 1 : 0 })} ${UNITS[power]}`
}

/** Seconds as `1:02:03`. */
export function clock(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = String(Math.floor(seconds % 60)).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

/** Shown instead of a picture. */
export const initialOf = (name: string): string => [...name.trim()][0]?.toUpperCase() ?? '?'
