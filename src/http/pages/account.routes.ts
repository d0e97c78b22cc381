// What a user has on pages without a script: the password, what they are told of, and their archives. The same commands as those
// of the API; whoever is not logged in is sent to the login, and back.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listNotifications } from '../../actors/notification/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { listUserExports } from '../../actors/user-export/index.ts'
import { findLatestImport } from '../../actors/user-import/index.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import type { LimitGroup } from '../plugins/rate-limit-groups.ts'
import { toUserImportProgressView } from '../user-imports/views.ts'
import { newPassword } from '../users/fields.ts'
import { archivesBody } from './bodies/archives.ts'
import { accountPage, changedPasswordBody, passwordBody } from './bodies/my-account.ts'
import { notificationsBody } from './bodies/notifications.ts'
import { type Field, formOf, PAGE_COUNT, pageNumber, queryOf } from './fields.ts'
import { loginPath } from './local-path.ts'
import { type PageTools, pageOptions } from './send.ts'

const SETTINGS = '/my-account/settings'
const NOTIFICATIONS = '/my-account/notifications'
const ARCHIVES = '/my-account/import-export'

/** As many as logins: whoever tries passwords is guessing. */
const GUESSED: LimitGroup[] = ['client', 'login']
const exportId = z.coerce.number().int().min(1).max(LARGEST_ID)

interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  visit: Visit
}

export function addAccountPages(tools: PageTools): void {
  const { app, db, clock, config, visitors, updateMe, notifications, userExports, send } = tools

  /** A page for who is logged in. */
  function page(path: string, show: (asked: Asked) => Promise<FastifyReply>): void {
    app.get(path, pageOptions, async (request, reply) => {
      const visit = await visitors.of(request)
      return visit ? await show({ request, reply, visit }) : reply.redirect(loginPath(path), 303)
    })
  }

  /** A form of `back`, on which its sender ends when `act` answers nothing else. */
  function form(
    { path, back, limits = ['client'] }: { path: string; back: string; limits?: LimitGroup[] },
    act: (asked: Asked, field: Field) => Promise<FastifyReply | undefined>,
  ): void {
    app.post(path, { ...pageOptions, config: { limits } }, async (request, reply) => {
      const field = formOf(request)
      visitors.refuseForged(request, field('token'))
      const visit = await visitors.of(request)
      if (!visit) return reply.redirect(loginPath(back), 303)
      return (await act({ request, reply, visit }, field)) ?? reply.redirect(back, 303)
    })
  }

  page(SETTINGS, async (asked) => showSettings(asked))

  form({ path: SETTINGS, back: SETTINGS, limits: GUESSED }, async (asked, field) => {
    const { data: password } = newPassword.safeParse(field('password'))
    if (password === undefined) return showSettings(asked, 'A password has 6 to 255 characters.')
    const { id: sessionId, user } = asked.visit
    try {
      const changes = { settings: {}, password, currentPassword: field('currentPassword') ?? '' }
      await updateMe({ userId: user.id, sessionId }, changes)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      return showSettings(asked, 'Your current password is not right.')
    }
    const { request, reply } = asked
    return send(request, reply, { title: 'Settings', body: changedPasswordBody(), isPrivate: true })
  })

  function showSettings({ request, reply, visit }: Asked, problem?: string): FastifyReply {
    const content = passwordBody({
      ...{ username: visit.user.username, problem, token: visitors.formToken(request, reply) },
    })
    const status = problem === undefined ? 200 : 400
    return send(request, reply, { status, title: 'Settings', body: accountPage(SETTINGS, content), isPrivate: true })
  }

  page(NOTIFICATIONS, async ({ request, reply, visit }) => {
    const number = pageNumber(queryOf(request))
    const { total, rows } = await listNotifications(db, {
      ...{ userId: visit.user.id, start: (number - 1) * PAGE_COUNT, count: PAGE_COUNT },
      sort: { by: 'createdAt', descending: true },
    })
    const content = notificationsBody({
      ...{ rows, path: NOTIFICATIONS, page: number, hasMore: total > number * PAGE_COUNT },
      token: visitors.formToken(request, reply),
    })
    return send(request, reply, { title: 'Notifications', body: accountPage(NOTIFICATIONS, content), isPrivate: true })
  })

  form({ path: `${NOTIFICATIONS}/read-all`, back: NOTIFICATIONS }, async ({ visit }) => {
    await notifications.markAllRead(visit.user.id)
    return undefined
  })

  page(ARCHIVES, async (asked) => await showArchives(asked))

  form({ path: `${ARCHIVES}/export`, back: ARCHIVES }, async (asked, field) => {
    const { id: userId, role } = asked.visit.user
    return await saying(asked, () =>
      userExports.request(userId, { userId, role }, { withVideoFiles: field('withVideoFiles') === 'yes' }),
    )
  })

  form({ path: `${ARCHIVES}/remove`, back: ARCHIVES }, async (asked, field) => {
    const { id: userId, role } = asked.visit.user
    const { data: id } = exportId.safeParse(field('id'))
    // One that is gone already is what was asked for.
    if (id === undefined) return undefined
    return await saying(asked, () => userExports.remove(userId, { userId, role }, id))
  })

  /** Shows the page of archives with the reason of a refusal. */
  async function saying(asked: Asked, act: () => Promise<unknown>): Promise<FastifyReply | undefined> {
    try {
      await act()
      return undefined
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.kind === 'not_found') return undefined
      return await showArchives(asked, error.message)
    }
  }

  async function showArchives({ request, reply, visit }: Asked, problem?: string): Promise<FastifyReply> {
    const { id: userId } = visit.user
    const [rows, latest] = await Promise.all([listUserExports(db, userId, clock.now()), findLatestImport(db, userId)])
    const exports = await Promise.all(
      rows.map(async (row) => ({ ...row, address: row.filename && (await userExports.addressOf(row.filename)) })),
    )
    const content = archivesBody({
      ...{ exports, problem, token: visitors.formToken(request, reply) },
      canExport: config().export.users.enabled,
      canImport: config().import.users.enabled,
      latest: latest && toUserImportProgressView(latest),
    })
    const status = problem === undefined ? 200 : 400
    return send(request, reply, { status, title: 'Archives', body: accountPage(ARCHIVES, content), isPrivate: true })
  }
}
