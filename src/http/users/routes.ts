// Users, for the staff, and the removal of the own account: `/users`.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import {
  findUser,
  findUserWithStats,
  listUsers,
  type Manager,
  type ManageUsers,
  namesOfUsers,
  type Users,
} from '../../actors/user/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { toUserView, userView } from '../me/views.ts'
import { sessionOf } from '../plugins/auth.ts'
import { listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { autocompleteQuery, blockBody, newUserBody, userChangesBody, userId, userQuery, usersQuery } from './schemas.ts'
import { createdUserView, listedUserView, toListedUserView, toUserWithStatsView, userWithStatsView } from './views.ts'

const tags = ['Users']
const manage = { right: 'MANAGE_USERS' } as const
const done = { 204: z.null() }

export function usersArea(deps: {
  db: Database
  config: () => Config
  urls: { host: string }
  users: Pick<Users, 'create'> & ManageUsers
}): Area {
  const { db, config, urls, users } = deps

  const managerOf = (request: FastifyRequest): Manager & { sessionId: number } => {
    const { id, user } = sessionOf(request)
    return { id: user.id, role: user.role, sessionId: id }
  }

  return (app) => {
    app.get(
      '/api/v1/users/autocomplete',
      { schema: { tags, querystring: autocompleteQuery, response: { 200: z.array(z.string()) } } },
      async ({ query: { search } }) => (search === '' ? [] : await namesOfUsers(db, search)),
    )

    app.get(
      '/api/v1/users',
      {
        config: manage,
        schema: { tags, querystring: usersQuery(config()), response: { 200: listOf(listedUserView) } },
      },
      async ({ query }) => {
        const { total, rows } = await listUsers(db, query)
        return { total, data: rows.map((row) => toListedUserView(row, urls.host)) }
      },
    )

    app.post(
      '/api/v1/users',
      { config: manage, schema: { tags, body: newUserBody, response: { 200: createdUserView } } },
      async (request) => {
        const { password, ...user } = request.body
        const made = await users.create({ ...user, password: password === '' ? null : password }, { by: managerOf(request) })
        return { user: { id: made.id, account: { id: made.accountId } } }
      },
    )

    app.get(
      '/api/v1/users/:id',
      {
        config: manage,
        schema: {
          tags,
          params: userId,
          querystring: userQuery,
          response: { 200: z.union([userWithStatsView, userView]) },
        },
      },
      async ({ params: { id }, query: { withStats } }) => {
        if (withStats) {
          const found = await findUserWithStats(db, id)
          if (found) return toUserWithStatsView(found, urls.host)
        } else {
          const found = await findUser(db, id)
          if (found) return toUserView(found, urls.host)
        }
        throw notFound('User not found')
      },
    )

    app.put(
      '/api/v1/users/:id',
      { config: manage, schema: { tags, params: userId, body: userChangesBody, response: done } },
      async (request, reply) => {
        await users.update(request.params.id, managerOf(request), request.body)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/:id/block',
      { config: manage, schema: { tags, params: userId, body: blockBody, response: done } },
      async (request, reply) => {
        await users.block(request.params.id, managerOf(request), request.body?.reason ?? null)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/:id/unblock',
      { config: manage, schema: { tags, params: userId, body: blockBody, response: done } },
      async (request, reply) => {
        await users.unblock(request.params.id, managerOf(request))
        return reply.code(204).send(null)
      },
    )

    app.delete('/api/v1/users/:id', { config: manage, schema: { tags, params: userId, response: done } }, async (request, reply) => {
      await users.remove(request.params.id, managerOf(request))
      return reply.code(204).send(null)
    })

    app.delete('/api/v1/users/me', { config: { auth: 'user' }, schema: { tags: ['My User'], response: done } }, async (request, reply) => {
      await users.leave(sessionOf(request).user.id)
      return reply.code(204).send(null)
    })
  }
}
