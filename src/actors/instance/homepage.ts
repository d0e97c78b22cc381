// The administrators' homepage, in Markdown and HTML that clients sanitise.

import type { Sql } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'

const NAME = 'homepage'

export type Homepage = ReturnType<typeof makeHomepage>

export const makeHomepage = ({ tell }: Pick<ActorDeps, 'tell'>) => ({
  /** An empty one stays stored, and is not announced. */
  write(content: string): Promise<void> {
    return tell.create(async (unit) => {
      const changed = await unit.query(
        `insert into custom_page as p (name, content, updated_at) values ($1, $2, $3)
         on conflict (name) do update set content = excluded.content, updated_at = excluded.updated_at
           where p.content <> excluded.content
         returning 1`,
        [NAME, content, unit.now],
      )
      if (changed.length > 0) unit.note({ domain: 'config', action: 'update', id: 0, entity: { homepage: 'changed' } })
    })
  },
})

/** Its text; undefined if none was ever written. */
export async function findHomepage(query: Sql): Promise<string | undefined> {
  const [page] = await query<{ content: string }>('select content from custom_page where name = $1', [NAME])
  return page?.content
}

/** SQL: true if there is one to show. */
export const HAS_HOMEPAGE = `exists (select from custom_page where name = '${NAME}' and content <> '')`
