// A simulated browser without JavaScript: it stores cookies, follows redirects within its site, and submits forms.

import { parseSetCookie } from 'cookie'

export interface Shown {
  status: number
  /** Path and query after redirects. */
  path: string
  headers: Headers
  html: string
}

export interface Form {
  action: string
  method: 'get' | 'post'
  fields: Record<string, string>
}

export interface SentFile {
  /** Name of the form field. */
  field: string
  /** File name on the client. */
  name: string
  type: string
  bytes: Uint8Array
}

export interface Browser {
  cookies: Map<string, string>
  open(path: string, headers?: Record<string, string>): Promise<Shown>
  /** Submits a form with the values it was rendered with, overridden by the given ones. `headers` override those of browsers. */
  send(form: Form, typed?: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  /** Submits a file form without a file. */
  sendForm(form: Form): Promise<Shown>
  /** Submits a form with a file. */
  sendFile(form: Form, file: SentFile, headers?: Record<string, string>): Promise<Shown>
  /** Logs in through the login page. */
  login(username: string, password: string, more?: Record<string, string>): Promise<Shown>
}

const MAX_HOPS = 5
/** Of a dangerous form, after the question whether it is meant. */
export const SURE = { confirmed: 'true' }

export function makeBrowser(base: string, always: Record<string, string> = {}): Browser {
  const cookies = new Map<string, string>()

  async function ask(path: string, init: RequestInit, hops = 0): Promise<Shown> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      accept: 'text/html',
      ...always,
      ...(cookie ? { cookie } : {}),
      ...Object.fromEntries(new Headers(init.headers)),
    }
    const answer = await fetch(new URL(path, base), { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const { name, value = '', maxAge } = parseSetCookie(line)
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location !== null && hops < MAX_HOPS) {
      const next = new URL(location, new URL(path, base))
      if (next.origin !== new URL(base).origin) throw new Error(`${path} leads to ${next.href}.`)
      return await ask(`${next.pathname}${next.search}`, {}, hops + 1)
    }
    return { status: answer.status, path, headers: answer.headers, html: await answer.text() }
  }

  const asIts = { origin: base, 'sec-fetch-site': 'same-origin' }

  async function sendMultipart(path: string, body: FormData, headers: Record<string, string> = asIts): Promise<Shown> {
    // Browsers send a Content-Length with forms; a body of bytes gets one too.
    const encoded = new Response(body)
    const contentType = encoded.headers.get('content-type') ?? ''
    const sent = new Uint8Array(await encoded.arrayBuffer())
    return await ask(path, { method: 'POST', body: sent, headers: { ...headers, 'content-type': contentType } })
  }

  const browser: Browser = {
    cookies,
    open: (path, headers = {}) => ask(path, { headers }),
    async send({ action, method, fields }, typed = {}, headers = asIts) {
      const body = new URLSearchParams({ ...fields, ...typed })
      if (method === 'get') return await ask(`${action}?${body}`, { headers })
      return await ask(action, { method: 'POST', body, headers })
    },
    sendForm: async ({ action, fields }) => await sendMultipart(action, formOf(fields)),
    async sendFile({ action, fields }, { field, name, type, bytes }, headers) {
      const body = formOf(fields)
      // Last, as in the forms of the pages.
      body.delete(field)
      body.append(field, new Blob([new Uint8Array(bytes)], { type }), name)
      return await sendMultipart(action, body, headers)
    },
    async login(username, password, more = {}) {
      const { html } = await browser.open('/login')
      return await browser.send(formIn(html, '/login'), { username, password, ...more })
    },
  }
  return browser
}

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

/** The form of a screen with this hidden `part`. */
export function partIn(html: string, name: string): Form {
  const forms = html.match(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs) ?? []
  const form = forms.find((one) => one.includes(`name="part" value="${name}"`))
  if (!form) throw new Error(`There is no form ${name} in ${html}`)
  return formIn(form, /action="([^"]*)"/.exec(form)?.[1] ?? '')
}

/** The form of a page with this action. */
export function formIn(html: string, action: string): Form {
  for (const [form, attributes = ''] of html.matchAll(/<form([^>]*)>.*?<\/form>/gs)) {
    if (attributeOf(attributes, 'action') !== action) continue
    const inputs = [...form.matchAll(/<input[^>]*>/g)].map(([input]) => input)
    const fields = inputs.flatMap((input) => {
      const name = attributeOf(input, 'name')
      const isLeftOut = attributeOf(input, 'type') === 'checkbox' && !/\schecked[\s>]/.test(input)
      return name === undefined || isLeftOut ? [] : [[name, attributeOf(input, 'value') ?? '']]
    })
    for (const [, area = '', text = ''] of form.matchAll(/<textarea([^>]*)>\n?(.*?)<\/textarea>/gs)) {
      const name = attributeOf(area, 'name')
      if (name !== undefined && !area.includes(' disabled')) fields.push([name, unescaped(text)])
    }
    const method = attributeOf(attributes, 'method') === 'post' ? 'post' : 'get'
    return { action, method, fields: Object.fromEntries(fields) }
  }
  throw new Error(`There is no form for ${action} in ${html}`)
}

/** The hrefs of links with this text. */
export const linksIn = (html: string, text: string): string[] =>
  [...html.matchAll(/<a\s([^>]*)>(.*?)<\/a>/gs)]
    .filter(([, , inner = '']) => inner.includes(text))
    .flatMap(([, attributes = '']) => attributeOf(attributes, 'href') ?? [])

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(` ${tag}`)?.[1]
  return value === undefined ? undefined : unescaped(value)
}

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
