// Automatic tags: the available ones, and those whose comments the owner of a video reviews.

import { z } from 'zod'
import { availableTags, type CommentTagPolicies, reviewedTags } from '../../actors/automatic-tag/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { ownAccountCalled } from '../plugins/own-account.ts'
import { readable } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'

const tags = ['Automatic Tags']
const params = z.object({ accountName: z.string() })
const REVIEW = 'Should have a list of tags'

const availableView = z
  .object({ available: z.array(z.object({ name: z.string(), type: z.enum(['core', 'watched-words-list']) })) })
  .meta({ id: 'AutomaticTagAvailable' })
const policiesView = z.object({ review: z.array(z.string()) }).meta({ id: 'CommentAutoTagPolicies' })
// There are no more tags than lists, and no name is longer than that of a list.
const policiesBody = z.object({
  review: z.array(readable(z.string(REVIEW).min(1, REVIEW).max(100, REVIEW), REVIEW), REVIEW).max(200),
})

export function automaticTagsArea(deps: { db: Database; urls: Here; policies: CommentTagPolicies }): Area {
  const { db, policies } = deps

  return (app) => {
    app.get(
      '/api/v1/automatic-tags/server/available',
      { config: { right: 'MANAGE_INSTANCE_AUTO_TAGS' }, schema: { tags, response: { 200: availableView } } },
      async () => ({ available: await availableTags(db, null) }),
    )

    app.get(
      '/api/v1/automatic-tags/accounts/:accountName/available',
      { config: { auth: 'user' }, schema: { tags, params, response: { 200: availableView } } },
      async (request) => {
        const accountId = await ownAccountCalled(deps, request.params.accountName, sessionOf(request))
        return { available: await availableTags(db, accountId) }
      },
    )

    app.get(
      '/api/v1/automatic-tags/policies/accounts/:accountName/comments',
      { config: { auth: 'user' }, schema: { tags, params, response: { 200: policiesView } } },
      async (request) => {
        const accountId = await ownAccountCalled(deps, request.params.accountName, sessionOf(request))
        return { review: await reviewedTags(db, accountId) }
      },
    )

    app.put(
      '/api/v1/automatic-tags/policies/accounts/:accountName/comments',
      { config: { auth: 'user' }, schema: { tags, params, body: policiesBody, response: { 204: z.null() } } },
      async (request, reply) => {
        const accountId = await ownAccountCalled(deps, request.params.accountName, sessionOf(request))
        await policies.setReview(accountId, request.body.review)
        return reply.code(204).send(null)
      },
    )
  }
}
