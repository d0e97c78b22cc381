// A list of the API as a table: search, filters, sorting, pages, and actions on one row or many.

import { z } from 'zod'
import { Html, html, rich } from '../../../platform/html.ts'
import { inNumbers, known, Localized, t, type Word } from '../../../platform/language.ts'
import { pager } from '../bodies/listing.ts'
import { day, shortText } from '../bodies/text.ts'
import { type ApiCall, textAt, valueAt } from './api.ts'
import { type Choices, type Field, fieldHtml, hiddenFields, wordsOf } from './fields.ts'
import type { Action, Cell, ListPart, Shown } from './parts.ts'

const ROWS_PER_PAGE = 20

export interface ListShown {
  rows: readonly unknown[]
  total: number
  /** The time to which the API has searched, if it did not finish. */
  searchedTo: string
  page: number
  path: string
  /** The address with all that is narrowed down. */
  here: string
  /** Those that the user may take. */
  actions: [string, Action][]
  inputs: Field[]
  shown: Shown
  only?: readonly string[] | undefined
}

type Shape = Record<string, z.ZodType>

function shapeOf({ operation }: ListPart, { tools }: Shown): Shape {
  const query = tools.app.operationOf(operation).schema?.querystring
  return query instanceof z.ZodObject ? query.shape : {}
}

/** The parameters of the address that belong to a list; two lists of a screen do not share them. */
const parameter = (list: ListPart, name: string): string => `${list.list}.${name}`

/** How the list is narrowed down and sorted, as far as the API can. */
const askedOf = (list: ListPart, shape: Shape, shown: Shown): [string, string][] =>
  ['search', 'sort', 'endDate', ...Object.keys(list.filters ?? {})].flatMap((name): [string, string][] => {
    const value = shown.query(parameter(list, name))
    return name in shape && value !== undefined ? [[name, value]] : []
  })

/** The query of the API for a page of the list. */
export function listQuery(list: ListPart, { shown, page }: { shown: Shown; page: number }): ApiCall['query'] {
  const shape = shapeOf(list, shown)
  return {
    ...('start' in shape ? { start: (page - 1) * ROWS_PER_PAGE } : {}),
    ...('count' in shape ? { count: ROWS_PER_PAGE } : {}),
    ...list.query?.(shown),
    // What the API would refuse is left out: addresses are typed and shared.
    ...Object.fromEntries(askedOf(list, shape, shown).filter(([name, value]) => shape[name]?.safeParse(value).success)),
  }
}

/** The rows of a page in an answer of the API, which may have no pages, and how many there are on all of them. */
export function rowsOf(answer: unknown, page: number): Pick<ListShown, 'rows' | 'total' | 'searchedTo'> {
  const rows = (valueAt(answer, 'data') ?? []) as unknown[]
  const start = rows.length > ROWS_PER_PAGE ? (page - 1) * ROWS_PER_PAGE : 0
  const total = Number(valueAt(answer, 'total') ?? rows.length)
  return { rows: rows.slice(start, start + ROWS_PER_PAGE), total, searchedTo: textAt(answer, 'searchedTo') }
}

export const lastPage = (total: number): number => Math.max(1, Math.ceil(total / ROWS_PER_PAGE))

export function pageOf(list: ListPart, { query }: Shown): number {
  const text = query(parameter(list, 'page')) ?? ''
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 1
}

export function listHtml(list: ListPart, given: ListShown): Html {
  const { rows, total, searchedTo, page, path, here, actions, inputs, shown, only } = given
  const shape = shapeOf(list, shown)
  const asked = new Map(askedOf(list, shape, shown))
  const address = (changes: Record<string, string>) => {
    const query = new URLSearchParams()
    for (const [name, value] of new Map([...asked, ...Object.entries(changes)])) query.set(parameter(list, name), value)
    return query.size > 0 ? `${path}?${query}` : path
  }
  const sortable = new Set(described(shape.sort).values)
  /** A heading that sorts, if the API can sort by the column. */
  const headingHtml = ([name, cell]: [string, Cell]): Html => {
    if (typeof cell !== 'string' || !sortable.has(cell)) return html`<th scope="col">${known(name)}</th>`
    const [sort, next] = [asked.get('sort'), asked.get('sort') === `-${cell}` ? cell : `-${cell}`]
    const order = sort === cell ? 'ascending' : sort === `-${cell}` ? 'descending' : undefined
    return html`<th scope="col"${order && html` aria-sort="${order}"`}><a href="${address({ sort: next })}">${known(name)}</a></th>`
  }
  const heading = list.title && html`<h2 id="${list.list}">${list.title}</h2>`
  const filters = filtersHtml(list, shape, asked, path)
  const further =
    searchedTo &&
    total <= page * ROWS_PER_PAGE &&
    html`<p>${rich('Searched back to {time}.', { time: momentHtml(new Date(searchedTo)) })} <a href="${address({ endDate: searchedTo })}">${t('Search on')}</a></p>`
  const pages = pager(address({}), {
    page,
    hasMore: total > page * ROWS_PER_PAGE,
    parameter: parameter(list, 'page'),
    label: list.title ? t('Pages: {list}', { list: list.title }) : t('Pages of the list'),
  })
  if (rows.length === 0)
    return html`${heading}${filters}<p class="soft">${asked.size > 0 ? t('Nothing matches.') : (list.empty ?? t('None.'))}</p>${pages}${further}`
  const isForm = actions.length > 0
  const idOf = (row: unknown) => (typeof list.id === 'function' ? list.id(row) : textAt(row, list.id ?? 'id'))
  const { body } = shown.request
  const acted = textAt(body, 'part') === list.list ? textAt(body, 'act').split(/[ ~]/) : []
  /** The row that was acted on keeps the focus, at best on the same button. */
  const buttonsOf = (row: unknown): Html[] => {
    const buttons = actions.filter(([, { when }]) => when?.(row, total) ?? true)
    const focused = acted.at(-1) === idOf(row).split('~').at(-1) && (buttons.find(([name]) => name === acted[0]) ?? buttons[0])
    return buttons.map((button) => html` ${buttonHtml(`${button[0]} ${idOf(row)}`, button[1], button === focused)}`)
  }
  const table = html`<div class="table" tabindex="0" role="region" aria-label="${list.title ?? t('List')}"><table>
<thead><tr>${isForm && html`<th><span class="away" id="${list.list}-select">${t('Select')}</span></th>`}${Object.entries(list.columns).map(headingHtml)}${isForm && html`<th><span class="away">${t('Actions')}</span></th>`}</tr></thead>
<tbody>${(only ? rows.filter((row) => only.includes(idOf(row))) : rows).map(
    (row) => html`<tr>${
      isForm &&
      html`<td><input type="checkbox" name="id" value="${idOf(row)}" aria-labelledby="${list.list}-select ${list.list}-${idOf(row)} ${list.list}-${idOf(row)}-1"></td>`
    }${Object.values(list.columns).map(
      (cell, column) =>
        html`<td${column < 2 && html` id="${list.list}-${idOf(row)}${column > 0 && '-1'}"`}>${cellHtml(cell, row, shown)}</td>`,
    )}${isForm && html`<td class="acts">${buttonsOf(row)}</td>`}</tr>
`,
  )}</tbody></table></div>`
  if (only) return table
  const many =
    isForm &&
    (rows.length > 1 || inputs.length > 0) &&
    html`<p class="acts many"><span>${t('With the selected:')}</span> ${actions.map(([name, action]) => !action.isSingle && buttonHtml(name, action))}</p>`
  const texts = inputs.map((field) => fieldHtml(field, { key: list.list, typed: new Map(), problems: new Map() }))
  return html`${heading}${filters}
${isForm ? html`<form method="post" action="${here}" data-swap>${hiddenFields(shown, list.list)}${table}${texts.length > 0 && html`<div class="fields">${texts}</div>`}${many}</form>` : table}
${pages}${further}`
}

/** What is typed into the inputs counts for actions that send them. */
const buttonHtml = (value: string, { label, body, danger }: Action, isFocused = false): Html =>
  html`<button name="act" value="${value}"${typeof body !== 'object' && html` formnovalidate`}${danger && html` data-confirm="${t('{action}?', { action: label })}"`}${isFocused && html` autofocus`}>${label}</button>`

function filtersHtml(list: ListPart, shape: Shape, asked: ReadonlyMap<string, string>, path: string): Html | null {
  const filters = Object.entries(list.filters ?? {}).map(([name, word]) => {
    const { label, choices } = word instanceof Localized ? { label: word } : word
    const { values, initial } = described(shape[name])
    return {
      name,
      label,
      initial,
      options: choices ?? Object.fromEntries(values.map((value) => [value, TRUTHS[value] ?? known(wordsOf(value))])),
    }
  })
  if (filters.length === 0 && !('search' in shape)) return null
  const search =
    'search' in shape &&
    html`<input type="search" name="${parameter(list, 'search')}" aria-label="${t('Search this list')}" placeholder="${t('Search this list')}" value="${asked.get('search') ?? ''}">`
  const fields = filters.map(
    ({ name, label, initial, options }) =>
      html`<label>${label} <select name="${parameter(list, name)}">${initial === undefined && html`<option value="">${t('All')}</option>`}${Object.entries(
        options,
      ).map(
        ([value, text]) => html`<option value="${value}"${value === (asked.get(name) ?? initial) && html` selected`}>${text}</option>`,
      )}</select></label>`,
  )
  const sort = asked.get('sort')
  const sorted = sort && html`<input type="hidden" name="${parameter(list, 'sort')}" value="${sort}">`
  return html`<form action="${path}" class="filters" role="search" aria-label="${list.title ? t('Filter: {list}', { list: list.title }) : t('Filter')}">${sorted}${search}${fields}<button>${t('Show')}</button></form>`
}

/** The values of a parameter, if it does not take any text, and its default. */
function described(parameter: z.ZodType = z.string()): { values: string[]; initial: unknown } {
  const { type, enum: values = [], default: initial } = z.toJSONSchema(parameter, { io: 'input', unrepresentable: 'any' })
  return { values: type === 'boolean' || values.includes('true') ? Object.keys(TRUTHS) : values.map(String), initial }
}

const TRUTHS: Choices = { true: t('Yes'), false: t('No') }

function cellHtml(cell: Cell, row: unknown, shown: Shown): Html | Word | null {
  const value = typeof cell === 'string' ? valueAt(row, cell) : cell(row, shown)
  if (typeof value !== 'string') return plain(value)
  return typeof cell === 'string' && ENUMERATED.has(cell) ? known(wordsOf(value.toLowerCase())) : plain(shortText(value))
}

/** Columns whose values are words of the API. */
const ENUMERATED: ReadonlySet<string> = new Set(['state', 'status', 'level', 'type'])

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*Z?$/

const momentHtml = (date: Date): Html => html`${day(date)} <span class="soft">${new Localized((language) => language.time(date))}</span>`

/** A value of the API for people; what is text already stays. */
export function plain(value: unknown): Html | Word | null {
  if (value === undefined || value === null || value === '') return null
  if (value instanceof Localized || value instanceof Html) return value
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value === 'number') return inNumbers(value)
  // People may have typed what only looks like a time.
  if (typeof value === 'string') return MOMENT.test(value) && Date.parse(value) ? momentHtml(new Date(value)) : html`<bdi>${value}</bdi>`
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ')
  const label = valueAt(value, 'label')
  return typeof label === 'string' ? known(label) : JSON.stringify(value)
}
