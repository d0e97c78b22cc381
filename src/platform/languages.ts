// The languages of pages and mails.

import { readFileSync } from 'node:fs'
import { english, type Language, type Messages, makeLanguage } from './language.ts'

export const messagesIn = (tag: string): Messages =>
  JSON.parse(readFileSync(new URL(`messages/${tag}.json`, import.meta.url), 'utf8')) as Messages

export const languages: readonly Language[] = [english, ...['de', 'fr'].map((tag) => makeLanguage(tag, () => messagesIn(tag)))]

export const languageOfTag = (tag: string | null | undefined): Language | undefined => languages.find((language) => language.tag === tag)
