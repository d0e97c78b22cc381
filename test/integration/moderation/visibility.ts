// Whether an object is visible to a viewer in lists, texts and responses of a node: `shown`, `hidden`, or the status of a refusal.

import type { Client } from '../../../scripts/demo/client.ts'

export type VisibilityOf<Who, Subject> = (who: Who, subject: Subject) => Promise<string>

export interface Page {
  total: number
  data: object[]
}

type Of<Subject, Value = string> = (subject: Subject) => Value

export const json = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** The Accept header of other servers. */
export const AP: RequestInit = { headers: { accept: 'application/activity+json' } }

/** Viewers without a client are visitors. `base` may be set later. */
export function makeVisibility<Who extends string>(of: { base: () => string; clients: ReadonlyMap<Who, Client>; all: readonly Who[] }) {
  const { base, clients, all } = of
  const at = (path: string): string => new URL(path, base()).href
  const ask = async (who: Who, path: string, init: RequestInit = {}): Promise<Response> =>
    (await clients.get(who)?.raw(at(path), init)) ?? (await fetch(at(path), init))

  return {
    ask,

    asClient(who: Who): Client {
      const client = clients.get(who)
      if (!client) throw new Error(`${who} is not logged in.`)
      return client
    },

    /** In a list on one page, whose total must equal its items. */
    inList:
      <Subject>(path: Of<Subject>, mark: Of<Subject>): VisibilityOf<Who, Subject> =>
      async (who, subject) => {
        const address = path(subject)
        const answer = await ask(who, `${address}${address.includes('?') ? '&' : '?'}count=100`)
        if (!answer.ok) return String(answer.status)
        const { total, data } = (await answer.json()) as Page
        if (total !== data.length) return `${data.length} of ${total}`
        return data.some((one) => JSON.stringify(one).includes(mark(subject))) ? 'shown' : 'hidden'
      },

    inText:
      <Subject>(path: Of<Subject>, mark: Of<Subject>, init: RequestInit = {}): VisibilityOf<Who, Subject> =>
      async (who, subject) => {
        const answer = await ask(who, path(subject), init)
        const text = await answer.text()
        if (!answer.ok) return String(answer.status)
        return text.includes(mark(subject)) ? 'shown' : 'hidden'
      },

    /** Any response below 400 counts as shown. */
    status:
      <Subject>(path: Of<Subject>, init: RequestInit | Of<Subject, RequestInit> = {}): VisibilityOf<Who, Subject> =>
      async (who, subject) => {
        const request = typeof init === 'function' ? init(subject) : init
        const answer = await ask(who, path(subject), { redirect: 'manual', ...request })
        await answer.arrayBuffer()
        return answer.status < 400 ? 'shown' : String(answer.status)
      },

    /** What all viewers see, in their order; one word when it is the same. */
    async seen<Subject>(look: VisibilityOf<Who, Subject>, subject: Subject, who: readonly Who[] = all): Promise<string> {
      const words = await Promise.all(who.map((one) => look(one, subject)))
      return new Set(words).size === 1 ? (words[0] ?? '') : words.join(' ')
    },
  }
}
