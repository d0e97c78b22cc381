// Screens: pages of forms and lists that are clients of the API. Each is a declaration; this file shows it and sends what was typed.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../actors/runtime/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { Localized, recognized, t } from '../../../platform/language.ts'
import { type FormStream, formStream } from '../../plugins/form-stream.ts'
import { HttpError } from '../../plugins/http-error.ts'
import { invalidParamsOf } from '../../plugins/invalid-params.ts'
import { loginPath } from '../../plugins/local-path.ts'
import { addFormRoutes, linger } from '../../plugins/multipart.ts'
import { pageOfForm, queryOf } from '../fields.ts'
import { type PageTools, pageOptions } from '../send.ts'
import { type ApiResult, filled, idIn, makeApi, type Refusal, resultOf } from './api.ts'
import { addArchiveDownload } from './archives.ts'
import {
  bodyOf,
  digestsOf,
  type Field,
  fieldsHtml,
  fieldsOf,
  formEntries,
  hiddenFields,
  previewButton,
  SHOWN,
  schemaOf,
  shownValues,
  type Typed,
} from './fields.ts'
import { type ListShown, lastPage, listHtml, listQuery, pageOf, rowsOf } from './list-html.ts'
import type { Action, Ending, FormPart, Inputs, ListPart, Part, Screen, Shown, Text } from './parts.ts'
import { problemOf } from './problems.ts'
import { mayOpen, menuOf, screens } from './screens.ts'
import { addUploadBridge } from './upload-bridge.ts'
import { visitorScreens } from './visitors.ts'
import { PICTURES } from './words.ts'

/** What the request before this page did. */
interface Outcome {
  part: string
  refusal?: Refusal
  meant?: Localized | undefined
  typed?: Typed
  shows?: Html
  text?: Localized
}

interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  screen: Screen
  shown: Shown
}

const MANY = 100
/** The field of a dangerous form, or of one of a list, after somebody was asked. */
const CONFIRMED = 'confirmed'
const ID = /^[^\s/?#\\]{1,300}$/

export function addScreens(tools: PageTools): void {
  const { app, visitors, send, sendMissing } = tools
  const api = makeApi(tools)
  addArchiveDownload(tools, api)

  for (const screen of [...screens, ...visitorScreens.map((one) => ({ ...one, isOpen: true }))]) {
    addUploadBridge(tools, api, screen)
    app.get(screen.path, pageOptions, async (request, reply) => {
      const asked = await open(request, reply, screen)
      return asked && !reply.sent ? await show(asked) : reply
    })
    addFormRoutes(app, (forms) => {
      forms.post(screen.path, pageOptions, async (request, reply) => {
        const form = request.isMultipart() ? formStream(request) : undefined
        try {
          return await receive(request, reply, screen, form)
        } finally {
          if (form) void form.end().finally(() => linger(request))
        }
      })
    })
  }

  async function receive(request: FastifyRequest, reply: FastifyReply, screen: Screen, form?: FormStream): Promise<FastifyReply> {
    visitors.refuseForeign(request)
    const asked = await open(request, reply, screen)
    if (!asked || reply.sent) return reply
    const sent = form ? await form.head() : typedIn(request.body)
    const field = textIn(sent)
    const part = screen.parts.find((one) => typeof one !== 'function' && nameOf(one) === field('part'))
    try {
      visitors.refuseForged(request, field('token'))
    } catch (error) {
      // Such as after a login in another tab: what was typed is shown again, with another token.
      if (!(error instanceof DomainError) || typeof part !== 'object' || 'list' in part) throw error
      const refusal = { status: 403, detail: error.message, fields: new Map() }
      // A form of an answer alone is no part of the page.
      return await refuse(asked, part, sent, refusal, part.when?.(asked.shown) === false ? part.refused : undefined)
    }
    if (!part || typeof part === 'function') return sendMissing(request, reply)
    return 'form' in part ? await submit(asked, part, sent, form) : await act(asked, part, sent)
  }

  async function open(request: FastifyRequest, reply: FastifyReply, screen: Screen): Promise<Asked | undefined> {
    const visit = await visitors.of(request)
    if (!visit && !screen.isOpen) return void reply.redirect(loginPath(pageOfForm(request)), 303)
    const { id: userId, username } = visit?.user ?? {}
    const values = { username, userId, id: userId, accountName: username, name: username, ...(request.params as object) }
    const token = visitors.formToken(request, reply)
    const shown: Shown = { visit, request, tools, values, query: queryOf(request), data: {}, token }
    if (!mayOpen(screen, (operation) => api.mayCall(visit, operation))) throw new HttpError(403, 'Your account may not do this.')
    const reads = Object.entries({ ...screen.reads, ...screen.readsIfAny }).map(async ([name, operation]) => {
      const isOptional = screen.readsIfAny?.[name] !== undefined
      return [name, await api.read(request, { operation, values, isOptional })] as const
    })
    const asked = { request, reply, screen, shown: { ...shown, data: Object.fromEntries(await Promise.all(reads)) } }
    const off = screen.isOff?.(tools.config()) && { heading: screen.title, body: html`<p>${t('It is switched off on this server.')}</p>` }
    const ending = off || (await screen.instead?.(asked.shown))
    if (ending) sendScreen(asked, { status: request.method === 'POST' ? 403 : 200, ...ending })
    return asked
  }

  async function show(asked: Asked, outcome?: Outcome): Promise<FastifyReply> {
    const { request, screen, shown } = asked
    const path = pathOf(request)
    const here = screen.isSecret ? path : pageOfForm(request)
    const mayUse = (part: Part) =>
      typeof part === 'function' || (api.mayCall(shown.visit, part.operation) && ('form' in part || (part.when?.(shown) ?? true)))
    const parts = screen.parts.filter(mayUse)
    const made = await Promise.all(
      parts.map(async (part) => {
        if (typeof part === 'function') return await part(shown)
        const mine = outcome?.part === nameOf(part) ? outcome : undefined
        return 'form' in part ? await formPart(part, here, shown, mine) : await listPart(part, { path, here, shown })
      }),
    )
    const [said] = parts.flatMap((part) => ('form' in part && part.form === shown.query('done') ? [part.said ?? t('Saved.')] : []))
    const notice = outcome?.text ?? (outcome ? undefined : said)
    const body = html`${notice && html`<p class="notice" role="status">${notice}</p>`}${outcome?.shows}
${made}`
    return sendScreen(asked, { heading: screen.heading?.(shown) ?? screen.title, body, status: outcome?.refusal?.status ?? 200 })
  }

  function sendScreen({ request, reply, screen, shown }: Asked, { heading, body, status = 200 }: Ending): FastifyReply {
    const { path, title, menu, back, isSecret = false } = screen
    const ways = back?.(shown)
    const page = html`<h1>${heading}</h1>
${ways && html`<p><a href="${ways.path}">${ways.text}</a></p>`}
${menu && menuOf({ path, menu }, shown, (operation) => api.mayCall(shown.visit, operation))}
${body}`
    return send(request, reply, { status, title, body: page, isPrivate: true, isSecret })
  }

  async function formPart(part: FormPart, path: string, shown: Shown, outcome?: Outcome): Promise<Html | null> {
    if (part.when && !outcome && !part.when(shown)) return null
    const fields = wordsFor(part, shown)
    const { button = t('Save') } = part
    const { refusal } = outcome ?? {}
    const typed = outcome?.typed ?? shownValues(fields, part.initial?.(shown))
    const isShown = (one: string) => fields.some(({ name }) => name === one)
    const problems = new Map([...(refusal?.fields ?? [])].flatMap(([name, text]) => (isShown(name) ? [[name, problemOf(text)]] : [])))
    const summary = refusal && (outcome?.meant ?? (problems.size > 0 ? t('Look at the marked fields again.') : recognized(refusal.detail)))
    const text = aboutOf(part, shown)
    return html`<section${part.title && html` aria-labelledby="${part.form}"`}>${part.title && html`<h2 id="${part.form}">${part.title}</h2>`}
<form method="post" action="${path}" class="fields"${outcome?.typed && html` data-typed`}${part.files && html` enctype="multipart/form-data"`}${
      part.pieces ? html` data-upload="${pathOf(shown.request)}/pieces"` : !part.files && html` data-swap`
    }>
${summary && html`<p class="problem" role="alert">${summary}</p>`}${hiddenFields(shown, part.form)}${
  part.changesOnly && html`<input type="hidden" name="${SHOWN}" value="${typed.get(SHOWN)?.[0] ?? digestsOf(fields, typed)}">`
}${text && html`<p>${text}</p>`}
${fieldsHtml(fields, { key: part.form, typed, problems })}<button${part.danger ? html` data-confirm="${t('{action}?', { action: button })}"` : html` class="main"`}>${button}</button>${part.preview && previewButton}
</form></section>`
  }

  /** Asks before something dangerous is done, unless the script has asked. What was typed is kept, but for files and passwords. */
  function ask(asked: Asked, sent: Typed, part: FormPart, about: Html | Localized | null = null): FastifyReply {
    const { form, title, button: action = t('Save'), files } = part
    const here = pageOfForm(asked.request)
    const again = wordsFor(part, asked.shown).filter(({ as }) => as === 'file' || as === 'password')
    const kept = [...sent, [CONFIRMED, ['true']] as const].filter(([name]) => again.every((field) => field.name !== name))
    const hidden = kept.map(([name, texts]) => texts.map((text) => html`<input type="hidden" name="${name}" value="${text}">`))
    const body = html`${title && html`<h2>${title}</h2>`}<div>${about}</div>
<form method="post" action="${here}" class="fields"${files && html` enctype="multipart/form-data"`}>${hidden}${fieldsHtml(again, { key: form, typed: new Map(), problems: new Map() })}
<p class="acts"><button>${action}</button><a class="button" href="${here}">${t('Cancel')}</a></p></form>`
    return sendScreen(asked, { heading: t('{action}?', { action }), body })
  }

  const wordsFor = ({ operation, fields = {}, inPath }: Inputs & Pick<FormPart, 'inPath'>, shown: Shown): Field[] =>
    fieldsOf(app.operationOf(operation), typeof fields === 'function' ? fields(shown) : fields, inPath)

  async function listPart(list: ListPart, { shown, only, ...place }: Pick<ListShown, 'path' | 'here' | 'shown' | 'only'>): Promise<Html> {
    const read = async (page: number) => {
      const query = listQuery(list, { shown, page })
      const answer = await api.read(shown.request, { operation: list.operation, values: { ...shown.values, ...list.at }, query })
      return { page, ...rowsOf(answer, page) }
    }
    let found = await read(pageOf(list, shown))
    // Such as after its rows were removed. What takes long to be searched is not read twice.
    const last = lastPage(found.total)
    if (found.rows.length === 0 && found.page > 1) found = found.searchedTo ? { ...found, page: last + 1 } : await read(last)
    return listHtml(list, {
      ...found,
      ...place,
      actions: Object.entries(list.actions ?? {}).filter(([, { operation }]) => !only && api.mayCall(shown.visit, operation)),
      inputs: list.inputs ? wordsFor(list.inputs, shown) : [],
      shown,
      only,
    })
  }

  async function submit(asked: Asked, part: FormPart, sent: Typed, form?: FormStream): Promise<FastifyReply> {
    const { request, reply, shown } = asked
    const text = textIn(sent)
    if (part.preview && sent.has('preview')) {
      const shows = html`<section class="preview" aria-label="${t('Preview')}">${part.preview(text, shown)}</section>`
      return await show(asked, { part: part.form, shows, typed: sent })
    }
    if (part.danger && !sent.has(CONFIRMED)) return ask(asked, sent, part, aboutOf(part, shown))
    if (part.limit) await app.rateLimits.take(part.limit, request, reply)
    const result = await sendTo(asked, part, sent, form)
    if (!result.ok) return await refuse(asked, part, sent, result.refusal, part.refused)
    const [, uploadId] = /upload_id=([\w-]+)/.exec(result.location ?? '') ?? []
    if (uploadId) return await reply.code(201).header('x-upload-id', uploadId).send()
    const rest = part.follow?.(result.body, text, shown)
    if (rest) await api.call(request, rest)
    if (await hasLeft(asked)) return reply
    if (part.ends) return sendScreen(asked, part.ends(text, shown, result.body))
    if (part.shows) return await show(asked, { part: part.form, shows: part.shows(result.body, shown) })
    return reply.redirect(part.leadsTo?.(result.body, shown) ?? pageOfForm(request, { done: part.form }), 303)
  }

  /** Shows a form again with what was typed, or what `refused` leads to. */
  async function refuse(asked: Asked, part: FormPart, sent: Typed, refusal: Refusal, refused: FormPart['refused']): Promise<FastifyReply> {
    const meant = refused?.(refusal, textIn(sent), asked.shown)
    if (meant && !(meant instanceof Localized)) return sendScreen(asked, { status: refusal.status, ...meant })
    if (refusal.status === 401 && !meant) return asked.reply.redirect(loginPath(pageOfForm(asked.request)), 303)
    const typed = typedAgain(wordsFor(part, asked.shown), sent)
    return await show(asked, { part: part.form, refusal: { ...refusal, ...(meant && { status: 400 }) }, meant, typed })
  }

  /** Sends a form to the API, unless the rules of the page refuse it. Files go as they arrive, after the texts. */
  async function sendTo({ request, shown }: Asked, part: FormPart, sent: Typed, form?: FormStream): Promise<ApiResult> {
    const { operation, inPath = [], fixed, rules, changesOnly } = part
    const text = textIn(sent)
    const all = wordsFor(part, shown)
    const fields = all.filter(({ name }) => !inPath.includes(name))
    const made = bodyOf(fields, sent)
    const schema = schemaOf(app.operationOf(operation))
    const body = schema && { ...(part.body ? part.body(text, made, shown) : made), ...fixed?.(shown) }
    const ids = Object.fromEntries(inPath.map((name) => [name, idIn(text(name))]))
    const { 'x-upload-content-length': size, 'x-upload-content-type': type } = request.headers
    const missing = all.flatMap(({ name, as, accept, required }): [string, Localized][] => {
      if (ids[name] === '') return [[name, t('This is needed.')]]
      if (as !== 'file' || !required || (part.pieces && size) || form?.mayHave(name)) return []
      return [[name, accept === PICTURES ? t('A picture is needed.') : t('A file is needed.')]]
    })
    const refused = [...Object.entries(rules?.(text, shown) ?? {}), ...missing]
    const broken = refused.filter((one): one is [string, Localized] => one[1] !== false)
    if (broken.length > 0) {
      const wrong = schema ? invalidParamsOf(schema, 'body', body).map(({ name, msg }) => [name, msg] as const) : []
      return { ok: false, refusal: { status: 400, detail: '', fields: new Map<string, string | Localized>([...wrong, ...broken]) } }
    }
    if (changesOnly && Object.keys(made).length === 0) return { ok: true, status: 204, body: undefined }
    const values = { ...shown.values, ...ids }
    if (part.pieces && size) {
      const headers = { 'x-upload-content-length': String(size), 'x-upload-content-type': String(type) }
      const file = { filename: text('filename'), fileId: text('fileId') }
      return await api.call(request, { operation: part.pieces, values, headers, body: { ...body, ...file } })
    }
    if (!part.files || !form) return await api.call(request, { operation, values, body })
    const [method = '', url = ''] = operation.split(' ')
    const { stream, length } = form.after(formEntries(body ?? {}))
    const headers = { 'content-type': request.headers['content-type'], 'content-length': length }
    return resultOf(await api.forward(request, { method, path: filled(url, values), headers, body: stream }))
  }

  /** Leads somebody away whose session is over, such as that of a deleted account. */
  async function hasLeft({ request, reply, shown }: Asked): Promise<boolean> {
    if (!shown.visit || (await visitors.of(request))) return false
    visitors.signOut(reply)
    reply.redirect('/', 303)
    return true
  }

  /** An action on the selected rows of a list, or on the one of its button. */
  async function act(asked: Asked, list: ListPart, sent: Typed): Promise<FastifyReply> {
    const { request, reply, shown } = asked
    const [name = '', only] = (sent.get('act')?.[0] ?? '').split(' ')
    const action: Action | undefined = Object.hasOwn(list.actions ?? {}, name) ? list.actions?.[name] : undefined
    if (!action) return sendMissing(request, reply)
    const ids = (only === undefined ? (sent.get('id') ?? []) : [only]).filter((id) => ID.test(id)).slice(0, MANY)
    if (action.danger && ids.length > 0 && !sent.has(CONFIRMED)) {
      const rows = await listPart(list, { path: pathOf(request), here: pageOfForm(request), shown, only: ids })
      return ask(asked, sent, { form: list.list, operation: action.operation, button: action.label }, rows)
    }
    const typed = list.inputs && bodyOf(wordsFor(list.inputs, shown), sent)
    const refusals: Refusal[] = []
    for (const id of ids) {
      const names = (action.operation.match(/(?<=:)\w+/g) ?? []).filter((name) => !Object.hasOwn(Object(request.params), name))
      const [own, first] = id.split('~').reverse()
      const ofRow = { ...(first && names.length > 1 ? { [names[0] ?? '']: first } : {}), [names.at(-1) ?? '']: own }
      const result = await api.call(request, {
        operation: action.operation,
        values: { ...shown.values, ...ofRow },
        body: typeof action.body === 'function' ? action.body(id) : action.body && { ...action.body, ...typed },
      })
      if (!result.ok) refusals.push(result.refusal)
    }
    if (await hasLeft(asked)) return reply
    const [first] = refusals
    if (first?.status === 401) return reply.redirect(loginPath(pageOfForm(request)), 303)
    const done = ids.length - refusals.length
    const text = ids.length === 0 ? t('Nothing is selected.') : t('{action}: {count} done.', { action: action.label, count: done })
    if (!first) return await show(asked, { part: list.list, text })
    const refused = { done: text, count: refusals.length, reason: recognized(first.detail) }
    return await show(asked, { part: list.list, refusal: first, text: t('{done} {count} refused: {reason}', refused) })
  }
}

const aboutOf = ({ text }: FormPart, shown: Shown) => (typeof text === 'function' ? text(shown) : text)

const nameOf = (part: FormPart | ListPart): string => ('form' in part ? part.form : part.list)

/** What was sent, without passwords. */
const typedAgain = (fields: readonly Field[], sent: Typed): Typed =>
  new Map([...sent].filter(([name]) => name === SHOWN || fields.some((field) => field.name === name && field.as !== 'password')))

function textIn(sent: Typed): Text {
  return (name) => sent.get(name)?.[0] ?? ''
}

const pathOf = ({ url }: FastifyRequest): string => new URL(url, 'http://inside').pathname

/** A urlencoded form: each field with all its values. */
function typedIn(body: unknown): Typed {
  const entries = Object.entries(typeof body === 'object' && body !== null ? body : {})
  return new Map(entries.map(([name, value]): [string, string[]] => [name, [value].flat().filter((text) => typeof text === 'string')]))
}
