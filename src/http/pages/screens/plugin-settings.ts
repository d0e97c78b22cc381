// The settings of a plugin as fields of a form, made of those that its code has registered. Their texts are the plugin's own.

import { Html, html } from '../../../platform/html.ts'
import { known, t } from '../../../platform/language.ts'
import { customMarkup } from '../custom-markup.ts'
import { valueAt } from './api.ts'
import type { FieldWords, Words } from './fields.ts'
import type { Shown } from './parts.ts'
import { choicesFrom } from './words.ts'

interface Setting {
  name: string
  type: string
  label?: string
  descriptionHTML?: string
  html?: string
  default?: unknown
  options?: readonly unknown[]
}

const LONGEST_TEXT = 10_000

const KINDS: Readonly<Record<string, FieldWords['as']>> = {
  'input-checkbox': 'check',
  'input-password': 'password',
  'input-textarea': 'long',
  'markdown-text': 'long',
  'markdown-enhanced': 'long',
}

const registered = ({ data }: Shown): Setting[] =>
  ((valueAt(data.registered, 'registeredSettings') ?? []) as Partial<Setting>[]).map((one) => ({ name: '', type: 'input', ...one }))

const typedOnes = (shown: Shown): Setting[] => registered(shown).filter(({ name, type }) => name !== '' && type !== 'html')

/** Names of settings may have dots, which lead into objects in names of fields. */
const fieldOf = ({ name }: Setting): string => Buffer.from(name).toString('base64url')

const present = ({ data }: Shown): Readonly<Record<string, unknown>> => Object(valueAt(data.plugin, 'settings'))

export const hasSettings = (shown: Shown): boolean => typedOnes(shown).length > 0

export function settingFields(shown: Shown): Words {
  return Object.fromEntries(typedOnes(shown).map((one) => [fieldOf(one), wordsOfSetting(one)]))
}

function wordsOfSetting({ name, type, label, descriptionHTML, options }: Setting): FieldWords {
  const as = KINDS[type]
  // Without its markup: escaped, it is a text.
  const about = typeof descriptionHTML === 'string' ? known(descriptionHTML.slice(0, LONGEST_TEXT).replace(/<[^<>]*>/g, '')) : undefined
  const help = about ?? (as === 'password' ? t('Empty: the present one stays.') : undefined)
  return {
    label: known(label ?? name),
    ...(as ? { as } : {}),
    ...(help ? { help } : {}),
    ...(type === 'select' && Array.isArray(options) ? { choices: choicesFrom(options, 'value', 'label') } : {}),
  }
}

export const settingValues = (shown: Shown): object =>
  Object.fromEntries(typedOnes(shown).map((one) => [fieldOf(one), present(shown)[one.name] ?? one.default]))

/** All settings: the API replaces them. */
export function settingsBody(text: (name: string) => string, shown: Shown): object {
  const typed = typedOnes(shown).flatMap((one): [string, unknown][] => {
    const value = text(fieldOf(one)).replaceAll('\r\n', '\n')
    if (one.type === 'input-checkbox') return [[one.name, value === 'true']]
    return one.type === 'input-password' && value === '' ? [] : [[one.name, value]]
  })
  return { settings: { ...present(shown), ...Object.fromEntries(typed) } }
}

/** What the plugin says about its settings, made inert. */
export function settingTexts(shown: Shown): Html {
  const texts = registered(shown).flatMap(({ type, html: text }) => (type === 'html' && typeof text === 'string' ? [text] : []))
  return html`${texts.map((text) => new Html([(language) => customMarkup(text.slice(0, LONGEST_TEXT), '', language).in(language)]))}`
}
