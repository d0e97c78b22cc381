// What screens are declared of: forms and lists, each of one operation of the API.

import type { FastifyRequest } from 'fastify'
import type { Visit } from '../../../actors/session/index.ts'
import type { Config } from '../../../config/index.ts'
import type { Html } from '../../../platform/html.ts'
import type { Localized, Word } from '../../../platform/language.ts'
import type { LimitGroup } from '../../plugins/rate-limit-groups.ts'
import type { PageTools } from '../send.ts'
import type { ApiCall, Refusal, Values } from './api.ts'
import type { Words } from './fields.ts'

/** What a part of a screen may use. */
export interface Shown {
  /** Null for visitors, on screens that are open to them. */
  visit: Visit | null
  request: FastifyRequest
  tools: PageTools
  /** Parameters of the address and the user's own names: values for the parameters of operations. */
  values: Values
  query: (name: string) => string | undefined
  /** What the screen read, by name. */
  data: Readonly<Record<string, unknown>>
  token: string
}

/** What is shown in place of a screen's parts. By default with the status 200, and 403 after a form was sent in vain. */
export interface Ending {
  heading: Localized
  body: Html
  status?: number
}

/** The text of a field in a sent form. */
export type Text = (name: string) => string

/** Fields, with what the schema of the operation says about them. */
export interface Inputs {
  operation: string
  /** A function, if they depend on what was read. */
  fields?: Words | ((shown: Shown) => Words)
}

export interface FormPart extends Inputs {
  form: string
  /** By default `Save`. */
  button?: Localized
  title?: Localized
  text?: Localized | ((shown: Shown) => Html | null)
  /** The values before anybody typed: the API's own representation. */
  initial?: (shown: Shown) => unknown
  /** Sends only what differs from what the form showed. */
  changesOnly?: boolean
  /** What is sent in addition. */
  fixed?: (shown: Shown) => object
  /** The body in place of the one `made` of the fields. */
  body?: (text: Text, made: object, shown: Shown) => object
  /** Values for the operation's parameters from typed fields, which are not sent then. */
  inPath?: readonly string[]
  /** Where it leads to; by default to its own screen with the notice `said`. */
  leadsTo?: (answer: unknown, shown: Shown) => string
  said?: Localized
  /** Shows the answer instead of leading elsewhere, for secrets that are shown once. */
  shows?: (answer: unknown, shown: Shown) => Html
  /** Ends the screen when it is done. */
  ends?: (text: Text, shown: Shown, answer: unknown) => Ending
  /** What a refusal of the API means here, if not what it says; or the end of the screen. */
  refused?: (refusal: Refusal, text: Text, shown: Shown) => Localized | Ending | undefined
  /** Problems that the API does not know, by field. With one the form is not sent to it. */
  rules?: (text: Text, shown: Shown) => Readonly<Record<string, Localized | false>>
  /** Counted in addition to the limits of the operation. */
  limit?: LimitGroup
  /** A second button shows what was typed as it will look. */
  preview?: (text: Text, shown: Shown) => Html
  /** Has files: the form goes to the API as it is. */
  files?: boolean
  /** Asks before it is sent. */
  danger?: boolean
  when?: (shown: Shown) => boolean
  /** The operation that opens an upload in pieces, in which the script sends the file. */
  pieces?: string
  /** What follows with other parts of the form, if they were filled in. */
  follow?: (answer: unknown, text: Text, shown: Shown) => ApiCall | undefined
}

export type Cell = string | ((row: unknown, shown: Shown) => Html | Word | null | undefined)

export interface Action {
  label: Localized
  operation: string
  /** The body, to which the inputs of the list are added; that of a function stands alone. */
  body?: object | ((id: string) => object)
  /** Shown for rows for which this is true; `total` is the number of rows on all pages. */
  when?: (row: unknown, total: number) => boolean
  danger?: boolean
  /** For one row at a time: it changes what identifies the others. */
  isSingle?: boolean
}

export interface ListPart {
  list: string
  title?: Localized
  operation: string
  /** Paths into a row, or functions, by heading in English. */
  columns: Readonly<Record<string, Cell>>
  /** Identifies a row for its actions, as the last parameter of their operations, after `~` and the one before it; by default `id`. */
  id?: string | ((row: unknown) => string)
  query?: (shown: Shown) => Record<string, string | undefined>
  /** Fixed parameters of the path. */
  at?: Values
  /** Query parameters of the operation that the page offers: all of them are chosen from, but for one with a default. */
  filters?: Words
  actions?: Readonly<Record<string, Action>>
  /** Texts for actions. */
  inputs?: Inputs
  /** By default `None.` */
  empty?: Localized
  when?: (shown: Shown) => boolean
}

export type Part = FormPart | ListPart | ((shown: Shown) => Html | null | Promise<Html | null>)

export interface Screen {
  path: string
  title: Localized
  /** By default the title. */
  heading?: (shown: Shown) => Localized
  /** True if visitors may use it. */
  isOpen?: boolean
  /** True if its address is a secret: it is sent to no other site. */
  isSecret?: boolean
  /** True while the configuration has switched it off: its page says so, and the menu does not name it. */
  isOff?: (config: Config) => boolean
  /** Shown instead, if it cannot be used. */
  instead?: (shown: Shown) => Ending | undefined | Promise<Ending | undefined>
  /** The menu that it belongs to; `back` leads elsewhere instead. */
  menu?: 'library' | 'account' | 'admin'
  back?: (shown: Shown) => { path: string; text: Localized }
  /** True if the menu does not name it; it names none with parameters. */
  unlisted?: boolean
  /** The operation that its users must be allowed, if it is not that of a part. */
  needs?: string
  /** Operations of the API to read first, by the name of their data. */
  reads?: Readonly<Record<string, string>>
  /** The same for what may not exist, or is switched off. */
  readsIfAny?: Readonly<Record<string, string>>
  parts: readonly Part[]
}

type More = Omit<Screen, 'path' | 'title' | 'parts'>

/** A screen; `more` has what few of them have. */
export function screen(path: string, title: Localized, ...rest: [parts: readonly Part[]] | [more: More, parts: readonly Part[]]): Screen {
  return rest.length === 1 ? { path, title, parts: rest[0] } : { path, title, ...rest[0], parts: rest[1] }
}

export const form = (form: string, operation: string, rest: Omit<FormPart, 'form' | 'operation'>) => ({ form, operation, ...rest })

export const list = (list: string, operation: string, rest: Omit<ListPart, 'list' | 'operation'>) => ({ list, operation, ...rest })
