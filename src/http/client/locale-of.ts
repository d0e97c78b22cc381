// The locale of a request, and the cookie with the locale that a person chose.

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import type { Locales } from './locales.ts'

/** The name that web clients use. */
const COOKIE = 'clientLanguage'
const KEPT_S = 90 * 86_400
/** Characters of the header that are parsed. */
const LONGEST = 4096

export function localeOf({ headers }: Pick<FastifyRequest, 'headers'>, locales: Locales): string {
  const { cookie = '', 'accept-language': acceptLanguage } = headers
  return locales.choose({ chosen: parseCookie(cookie.slice(0, LONGEST))[COOKIE], acceptLanguage })
}

/** The value of `Set-Cookie`. */
export const localeCookie = (locale: string, { secure }: { secure: boolean }): string =>
  stringifySetCookie({ name: COOKIE, value: locale, path: '/', maxAge: KEPT_S, sameSite: 'lax', secure })
