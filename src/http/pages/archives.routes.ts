// The current user's archives, on a page without a script: creation, download, deletion and import. The commands are those of the API.

import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { quotaUsed } from '../../actors/user/index.ts'
import { listUserExports } from '../../actors/user-export/index.ts'
import { findLatestImport } from '../../actors/user-import/index.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { recognized, t } from '../../platform/language.ts'
import { addFormRoutes, type FormFile, linger, withForm } from '../plugins/multipart.ts'
import { toUserImportProgressView } from '../user-imports/views.ts'
import { archivesBody } from './bodies/archives.ts'
import { loginPath } from './local-path.ts'
import { type Asked, accountPage, ownPages } from './own-pages.ts'
import { makeApi } from './screens/api.ts'
import { type PageTools, pageOptions } from './send.ts'

const ARCHIVES = '/my-account/import-export'

const exportId = z.coerce.number().int().min(1).max(LARGEST_ID)
const exportOf = z.object({ id: exportId })
/** The token precedes the file and is checked when the file begins. */
const importFields = z.object({ token: z.string().optional() })

/** Refusals that the page itself explains, by the status of its response. */
const EXPLAINED = { invalid: 400, forbidden: 403, conflict: 409, too_large: 413 } as const

export function addArchivePages(tools: PageTools): void {
  const { app, db, clock, config, visitors, userExports, uploads, send } = tools
  const { page, form } = ownPages(tools)
  const { mayCall } = makeApi(tools)

  page(ARCHIVES, async (asked) => await showArchives(asked))

  // The file's own address is valid for a short time, but pages stay open for longer.
  page(`${ARCHIVES}/download`, async ({ request, reply, visit }) => {
    const { data } = exportOf.safeParse(request.query)
    const rows = config().export.users.enabled ? await listUserExports(db, visit.user.id, clock.now()) : []
    const filename = rows.find(({ id }) => id === data?.id)?.filename
    return reply.redirect(filename ? await userExports.addressOf(filename, { userId: visit.user.id }) : ARCHIVES, 303)
  })

  form({ path: `${ARCHIVES}/export`, back: ARCHIVES }, async (asked, field) => {
    const { id: userId, role } = asked.visit.user
    return await saying(asked, () => userExports.request(userId, { userId, role }, { withVideoFiles: field('withVideoFiles') === 'yes' }))
  })

  form({ path: `${ARCHIVES}/remove`, back: ARCHIVES }, async (asked, field) => {
    const { id: userId, role } = asked.visit.user
    const { data: id } = exportId.safeParse(field('id'))
    // Deleting a missing one succeeds.
    if (id === undefined) return undefined
    return await saying(asked, () => userExports.remove(userId, { userId, role }, id))
  })

  addFormRoutes(app, (forms) => {
    forms.post(`${ARCHIVES}/import`, pageOptions, async (request, reply) => {
      refusingFirst(request, () => visitors.refuseForeign(request))
      const visit = await visitors.of(request)
      if (!visit) {
        linger(request)
        return reply.redirect(loginPath(ARCHIVES), 303)
      }
      const asked = { request, reply, visit }
      await saying(asked, () => receiveImport(asked))
      return reply.sent ? reply : reply.redirect(ARCHIVES, 303)
    })
  })

  async function receiveImport({ request, visit }: Asked): Promise<void> {
    const archive = receivedArchive({
      uploads,
      userId: visit.user.id,
      maxBytes: config().vireo.uploads.max_partial_per_user,
      formBytes: request.headers['content-length'],
      check: (token) => visitors.refuseForged(request, token),
    })
    await withForm(request, { fields: importFields, files: { archive } }, async ({ files }) => {
      if (!files.archive) throw new DomainError('invalid', 'Choose the file of an archive.')
      await files.archive.value.finish()
    })
  }

  /** Shows the page of archives with the reason of a refusal; sends nothing otherwise. */
  async function saying(asked: Asked, act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.kind === 'not_found') return
      if (!isExplained(error.kind)) throw error
      await showArchives(asked, { text: error.message, status: EXPLAINED[error.kind] })
    }
  }

  async function showArchives({ request, reply, visit }: Asked, problem?: { text: string; status: number }): Promise<FastifyReply> {
    const { id: userId } = visit.user
    const [exports, latest, left, { total: used }] = await Promise.all([
      listUserExports(db, userId, clock.now()),
      findLatestImport(db, userId),
      uploads.quotaLeft(userId),
      quotaUsed(db, userId),
    ])
    const { users: rules } = config().export
    const { legacy_timeout: longest, max_partial_per_user: largest } = config().vireo.uploads
    const content = archivesBody({
      exports,
      problem: problem && recognized(problem.text),
      token: visitors.formToken(request, reply),
      files: rules.enabled ? { used, most: rules.max_user_video_quota } : undefined,
      upload: config().import.users.enabled ? { largest, left, minutes: Math.floor(longest / MINUTE) } : undefined,
      latest: latest && toUserImportProgressView(latest),
    })
    const status = problem?.status ?? 200
    return send(request, reply, { status, title: t('Archives'), body: accountPage(ARCHIVES, { visit, mayCall }, content), isPrivate: true })
  }
}

const MINUTE = 60_000

const isExplained = (kind: string): kind is keyof typeof EXPLAINED => Object.hasOwn(EXPLAINED, kind)

/** Reads and discards the rest of a refused body, because the browser would not see the response otherwise. */
function refusingFirst(request: FastifyRequest, check: () => void): void {
  try {
    check()
  } catch (error) {
    linger(request)
    throw error
  }
}

interface ReceivedArchive {
  /** Called when the form is complete: the import begins. Throws the refusal of the archive. */
  finish(): Promise<void>
}

/**
 * The archive in a form, streamed as it arrives: the form's file is the only chunk of an ordinary upload.
 * `formBytes` is the form's Content-Length, which limits its file; `check` validates the form's token. Throws `invalid` for a form of
 * unknown length, and like `Uploads.openArchive` and `Uploads.receiveArchive`. A refused or interrupted file is removed.
 */
function receivedArchive(options: {
  uploads: Pick<Uploads, 'openArchive' | 'receiveArchive' | 'endArchive' | 'cancel'>
  userId: number
  maxBytes: number
  formBytes: string | undefined
  check: (token: string | undefined) => void
}): FormFile<ReceivedArchive> {
  const { uploads, userId, maxBytes, formBytes, check } = options
  return {
    maxBytes,
    async open({ filename, mimetype }, sent) {
      check(sent('token'))
      const size = Number(formBytes)
      if (!(size > 0)) throw new DomainError('invalid', 'The browser has to say how long the form is.')
      const upload = { userId, fileName: filename, size, type: mimetype, isForm: true }
      const own = { userId, token: (await uploads.openArchive(upload)).token }
      const bytes = new PassThrough()
      const range = { kind: 'chunk', from: 0, to: size - 1, size } as const
      const received = uploads.receiveArchive({ ...own, range, body: bytes })
      received.catch((error: unknown) => bytes.destroy(error instanceof Error ? error : new Error(String(error))))
      return {
        writable: bytes,
        value: {
          async finish() {
            await received
            await uploads.endArchive(own)
          },
        },
        async discard() {
          bytes.destroy()
          await received.catch(() => undefined)
          await uploads.cancel(own)
        },
      }
    },
  }
}
