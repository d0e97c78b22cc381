// Screens that users have for themselves and the staff for the server: blocks and watched words.

import { type Html, html } from '../../../platform/html.ts'
import { known, type Localized, listed, t } from '../../../platform/language.ts'
import { counted, shortText } from '../bodies/text.ts'
import { textAt, valueAt } from './api.ts'
import { type Words, wordsOf } from './fields.ts'
import { inOneLine, linesOf } from './lines.ts'
import { type Cell, form, type ListPart, list, type Part, type Screen, type Shown, screen } from './parts.ts'
import { facts, handle, handleText, link, readable, reportedThing, reportReasons } from './words.ts'

interface Where {
  path: string
  title: Localized
  /** The beginning of the operations' paths. */
  api: string
}

/** Put together, since `scripts/check-owners.ts` would take it for SQL. */
const removal = (path: string): string => ['DELETE', path].join(' ')

/** Blocked accounts and servers, and their lists to take over and to pass on. */
export const blocks = ({ path, title, api }: Where): Screen =>
  screen(path, title, [...blocksOf('account', path, api), ...blocksOf('server', path, api)])

const BLOCKS = {
  account: {
    title: t('Accounts'),
    id: (row: unknown) => handleText(row, 'blockedAccount.'),
    column: { Account: handle('blockedAccount.') },
    empty: t('No blocked accounts.'),
    parameter: 'accountName',
    field: { label: t('Account'), help: t('Such as name@video.example') },
    blockOne: t('Block the account'),
    take: t('Take over a list of accounts'),
    help: t('One account in a line, such as name@video.example.'),
    block: t('Block these accounts'),
    pass: t('Pass on the blocked accounts'),
  },
  server: {
    title: t('Servers'),
    id: 'blockedServer.host',
    column: { Server: 'blockedServer.host' },
    empty: t('No blocked servers.'),
    parameter: 'host',
    field: { label: t('Server'), help: t('Such as video.example') },
    blockOne: t('Block the server'),
    take: t('Take over a list of servers'),
    help: t('One server in a line, or the table (CSV) that Mastodon exports.'),
    block: t('Block these servers'),
    pass: t('Pass on the blocked servers'),
  },
} as const

function blocksOf(kind: keyof typeof BLOCKS, path: string, api: string): Part[] {
  const { title, id, column, empty, parameter, field, blockOne, take, help, block, pass } = BLOCKS[kind]
  const url = `/api/v1/vireo/${path.startsWith('/admin') ? '' : 'my-'}${kind}-blocklist`
  return [
    list(`${kind}s`, `GET ${api}/${kind}s`, {
      title,
      id,
      columns: { ...column, Since: 'createdAt' },
      actions: { unblock: { label: t('Unblock'), operation: removal(`${api}/${kind}s/:${parameter}`) } },
      empty,
    }),
    form(kind, `POST ${api}/${kind}s`, { fields: { [parameter]: field }, button: blockOne }),
    form(`import-${kind}s`, `POST ${url}`, {
      title: take,
      fields: { list: { label: t('List'), as: 'long', help }, skipBad: { label: t('Leave out lines that are wrong'), as: 'check' } },
      button: block,
      danger: true,
      shows: (answer) =>
        facts([
          [t('Newly blocked'), valueAt(answer, 'blocked')],
          [t('Blocked before'), valueAt(answer, 'known')],
          [t('Left out for a milder severity'), kind === 'server' ? valueAt(answer, 'milder') : null],
          [t('Not known here, and not blocked'), shortText((valueAt(answer, 'unknown') as string[]).join(', '))],
          [t('Wrong lines'), valueAt(answer, 'skipped')],
        ]),
    }),
    form(`export-${kind}s`, `GET ${url}`, {
      title: pass,
      button: t('Show the list'),
      shows: (answer) => {
        const list = textAt(answer, 'list')
        return html`<section><p><a class="button" download="blocked-${kind}s.csv" href="data:text/csv;charset=utf-8,${encodeURIComponent(list)}">${t('Download')}</a></p>
<textarea rows="8" readonly aria-label="${t('List')}">
${list}</textarea></section>`
      },
    }),
  ]
}

const wordLines = linesOf<string>({
  name: 'words',
  words: { label: t('Words'), as: 'lines', help: t('One in a line. Comments with them get the name of the list as a tag.') },
  allIn: ({ data }) => valueAt(data.list, 'words') as string[],
  lineOf: inOneLine,
  itemOf: (line) => line,
})
const listFields: Words = { listName: t('Name'), ...wordLines.fields }

/** Lists of words whose comments are marked, and the screen of one. */
export const watchedWords = ({ path, api }: Omit<Where, 'title'>): Screen[] => [
  screen(path, t('Watched words'), [
    list('lists', `GET ${ownApi(api)}`, {
      columns: { Name: link(path, 'id', 'listName'), Words: someOf, Changed: 'updatedAt' },
      actions: { delete: { label: t('Delete'), operation: removal(`${api}/:listId`), danger: true } },
      empty: t('No lists yet.'),
    }),
    form('list', `POST ${api}`, { title: t('A new list'), fields: listFields, button: t('Make the list') }),
  ]),
  screen(`${path}/:listId`, t('Edit the list'), { reads: { list: `GET ${ownApi(api)}/:listId` } }, [
    form('list', `PUT ${api}/:listId`, {
      initial: (shown) => ({ ...(shown.data.list as object), ...wordLines.initial(shown) }),
      fields: listFields,
      body: (text, _made, shown) => ({ listName: text('listName'), words: wordLines.changed(text, shown) }),
    }),
    wordLines.pages,
  ]),
]

const ownApi = (api: string): string => api.replace('/v1/', '/v1/vireo/')

const someOf = (row: unknown): Html =>
  html`${counted.words(Number(valueAt(row, 'count')))} · <bdi>${shortText(textAt(row, 'beginning'))}</bdi>`

/** A report with its messages; `label` is that of a new one, `from` shows who wrote one. */
export const conversation = (label: Localized, from: Cell, actions: ListPart['actions'] = {}): Part[] => [
  aboutReport,
  list('messages', 'GET /api/v1/abuses/:id/messages', {
    title: t('Messages'),
    columns: { From: from, Message: readable('message'), Sent: 'createdAt' },
    actions,
    empty: t('No messages yet.'),
  }),
  form('message', 'POST /api/v1/abuses/:id/messages', { fields: { message: { label, as: 'long' } }, button: t('Send') }),
]

/** What a report is about, and what became of it. */
function aboutReport({ data }: Shown): Html {
  const report = valueAt(data.report, 'data.0')
  const comment = valueAt(report, 'comment.id')
  const kinds = [valueAt(report, 'predefinedReasons') ?? []]
    .flat()
    .map((kind) => reportReasons[String(kind)] ?? known(wordsOf(String(kind))))
  return facts([
    [t('About'), reportedThing(report)],
    [t('Comment'), comment === undefined ? null : html`<bdi>${shortText(textAt(report, 'comment.text')) || String(comment)}</bdi>`],
    [t('Kinds'), kinds.length === 0 ? null : listed(kinds)],
    [t('Reason'), valueAt(report, 'reason')],
    [t('From'), handle('reporterAccount.')(report)],
    [t('State'), valueAt(report, 'state')],
    [t('Note for the staff'), valueAt(report, 'moderationComment')],
    [t('Sent'), valueAt(report, 'createdAt')],
  ])
}
