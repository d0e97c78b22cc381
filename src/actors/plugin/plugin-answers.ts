// What plugins may ask of the server. Each question is read with a schema: the process that asks may be hostile.

import { z } from 'zod'
import { parseEarly } from '../../platform/first-fault.ts'
import { isUuid, LARGEST_ID } from '../../platform/ids.ts'
import { makeKeyedLimit } from '../../platform/keyed-limit.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { readDeclared } from './declared.ts'
import type { AnswerPlugin } from './host/hosts.ts'
import type { Plugins } from './plugin.commands.ts'
import { findData, storeData } from './plugin-data.ts'

const LONGEST_TEXT = 2000
const name = z.string().min(1).max(200)
const keyed = z.object({ key: name })
const questions = {
  log: z.object({ level: z.enum(['debug', 'info', 'warn', 'error']), message: z.string().max(LONGEST_TEXT) }),
  getSettings: z.object({ names: z.array(name).max(500) }),
  setSetting: z.object({ name, value: z.union([z.string(), z.number(), z.boolean(), z.null()]) }),
  storeData: keyed.extend({ value: z.unknown() }),
  loadVideo: z.object({ id: z.string().max(100) }),
  loadUser: z.object({ id: z.int() }),
  externalLogin: z.object({ authName: name, user: z.looseObject({}) }),
}

/** `externalLogin` returns the address to which the browser is sent. */
export function makeAnswerPlugin(
  deps: ActorDeps & {
    plugins: Pick<Plugins, 'declare' | 'settings' | 'setSetting'>
    externalLogin: (login: { npmName: string; authName: string; user: object }) => Promise<string>
  },
): AnswerPlugin {
  const { db, logger, plugins, externalLogin } = deps

  /** One question of a plugin after another: concurrent ones would take all connections, and wait in them for the row of the plugin. */
  const turns = makeKeyedLimit<number>(1)

  async function answer({ id, npm_name: npmName }: Parameters<AnswerPlugin>[0], asked: string, args: unknown): Promise<unknown> {
    switch (asked) {
      case 'declare':
        return await plugins.declare(npmName, readDeclared(args))
      case 'getSettings': {
        const settings = await plugins.settings(npmName)
        const { names } = parseEarly(questions.getSettings, args)
        return Object.fromEntries(names.filter((one) => Object.hasOwn(settings, one)).map((one) => [one, settings[one]]))
      }
      case 'setSetting': {
        const { name: setting, value } = questions.setSetting.parse(args)
        return await plugins.setSetting(npmName, setting, value)
      }
      case 'getData':
        return await findData(db.query, id, keyed.parse(args).key)
      case 'storeData': {
        const { key: of, value } = questions.storeData.parse(args)
        return await storeData(deps, id, of, value)
      }
      case 'loadVideo': {
        const { id: of } = questions.loadVideo.parse(args)
        const key = isUuid(of) ? 'uuid' : 'id'
        if (key === 'id' && !isId(of)) return undefined
        const [video] = await db.query(
          `select v.id, v.uuid, v.name, v.url, v.privacy, v.state, v.is_live as "isLive", v.duration, v.channel_id as "channelId"
           from video v where v.${key} = $1`,
          [of],
        )
        return video
      }
      case 'loadUser': {
        const [user] = await db.query(`select id, username, email, role, blocked from users where id = $1 and state <> 'deleted'`, [
          questions.loadUser.parse(args).id,
        ])
        return user
      }
      case 'externalLogin': {
        const { authName, user } = questions.externalLogin.parse(args)
        return await externalLogin({ npmName, authName, user })
      }
      default:
        throw new DomainError('not_found', 'The server does not know this question.')
    }
  }

  return async (plugin, asked, args) => {
    if (asked !== 'log') return await turns.run(plugin.id, () => answer(plugin, asked, args))
    const { level, message } = questions.log.parse(args)
    return logger[level]({ plugin: plugin.npm_name }, message)
  }
}

const isId = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) <= LARGEST_ID
