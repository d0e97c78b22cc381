// The homepage of the instance: `/custom-pages/homepage/instance`.

import { z } from 'zod'
import { findHomepage, type Homepage, type InstanceFactsReader } from '../../actors/instance/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Area } from '../plugins/types.ts'

const URL = '/api/v1/custom-pages/homepage/instance'
const TAGS = ['Homepage']

/** Characters; with it a body of ASCII is just below the body limit. */
const LONGEST = 500_000

const homepageView = z.object({ content: z.string() }).meta({ id: 'CustomHomepage' })

export function customPagesArea(deps: {
  db: Database
  homepage: Homepage
  /** The configuration for clients tells whether a homepage exists. */
  facts: Pick<InstanceFactsReader, 'changed'>
}): Area {
  const { db, homepage, facts } = deps
  return (app) => {
    app.get(URL, { schema: { operationId: 'getCustomPagesHomepageInstance', tags: TAGS, response: { 200: homepageView } } }, async () => {
      const content = await findHomepage(db.query)
      if (content === undefined) throw notFound('This instance has no homepage.')
      return { content }
    })

    app.put(
      URL,
      {
        config: { right: 'MANAGE_INSTANCE_CUSTOM_PAGE' },
        schema: {
          operationId: 'putCustomPagesHomepageInstance',
          tags: TAGS,
          // An omitted content means an empty page.
          body: z.object({ content: z.string().max(LONGEST).default('') }).nullish(),
          response: { 204: z.null() },
        },
      },
      async ({ body }, reply) => {
        await homepage.write(body?.content ?? '')
        await facts.changed()
        return reply.code(204).send(null)
      },
    )
  }
}
