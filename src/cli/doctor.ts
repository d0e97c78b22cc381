// `vireo doctor`: checks everything that the server needs, and gives advice. Changes nothing.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeStoredOverrides } from '../actors/runtime-config/index.ts'
import { type Config, type LoadedConfig, makeConfigSource } from '../config/index.ts'
import { emailAddress } from '../http/users/fields.ts'
import { silentLogger } from '../platform/logger.ts'
import { loadOrCreateSecret, makeSecrets } from '../platform/secrets.ts'
import { type DoctorDatabase, type Finding, runChecks, type Status } from './doctor/check.ts'
import { clockCheck } from './doctor/clock.ts'
import { configurationCheck, secretCheck } from './doctor/configuration.ts'
import { databaseCheck, openForDoctor } from './doctor/database.ts'
import { importsCheck } from './doctor/imports.ts'
import { liveCheck } from './doctor/live.ts'
import { loginsCheck } from './doctor/logins.ts'
import { mailCheck } from './doctor/mail.ts'
import { mediaCheck } from './doctor/media.ts'
import { proxyCheck } from './doctor/proxy.ts'
import { certificateCheck, federationCheck, nameCheck } from './doctor/public-address.ts'
import { redisCheck } from './doctor/redis.ts'
import { storeCheck } from './doctor/store.ts'
import { parseWith, type Tools } from './family.ts'

const checks = [
  configurationCheck,
  secretCheck,
  databaseCheck,
  redisCheck,
  mediaCheck,
  importsCheck,
  liveCheck,
  storeCheck,
  mailCheck,
  loginsCheck,
  nameCheck,
  certificateCheck,
  federationCheck,
  clockCheck,
  proxyCheck,
]

const MARKS: Record<Status, string> = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM' }

export function doctorCommands({ program, load, out, env, exitWith }: Tools): void {
  program
    .command('doctor')
    .description('look at all that the server needs, beside a running server or without one, and say what to do')
    .option('--send-mail-to <address>', 'send a mail there; otherwise none is sent', parseWith(emailAddress))
    .action(async ({ sendMailTo }: { sendMailTo?: string }) => {
      const loaded = load()
      let opening: ReturnType<typeof openForDoctor> | undefined
      const database = async () => {
        opening ??= openForDoctor(loaded)
        const opened = (await opening).database
        if (!opened) throw new Error('The embedded PostgreSQL was never started.')
        return opened
      }
      const patient = {
        loaded,
        env,
        database,
        current: () => currentConfig(loaded, database),
        ...(sendMailTo === undefined ? {} : { sendMailTo }),
      }
      try {
        tell(await runChecks(checks, patient))
      } finally {
        await opening?.then((opened) => opened.close()).catch(() => undefined)
      }
    })

  function tell(findings: Finding[]): void {
    const count = (status: Status) => findings.filter((finding) => finding.status === status).length
    const [problems, warnings] = [count('problem'), count('warning')]
    if (problems > 0) exitWith(1)
    out.answer({ problems, warnings, findings }, [...table(findings), '', `${problems} problems, ${warnings} warnings.`])
  }
}

/** Changes nothing: without a secret there are no changes that can be read. */
async function currentConfig(loaded: LoadedConfig, database: () => Promise<DoctorDatabase>): Promise<Config> {
  const source = makeConfigSource(loaded)
  const { dataDir } = loaded
  const configured = loaded.config.secrets.peertube
  if (configured !== '' || existsSync(join(dataDir, 'secret.key'))) {
    const secrets = makeSecrets({ secret: await loadOrCreateSecret({ configured, dataDir }) })
    // The check of the database says why it cannot be read.
    const load = async () => await makeStoredOverrides({ db: await database(), source, logger: silentLogger, secrets }).load()
    await load().catch(() => undefined)
  }
  return source.current()
}

function table(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const indent = ' '.repeat(width + 11)
  return findings.flatMap(({ check, status, message, advice }) => [
    `${check.padEnd(width)}  ${MARKS[status].padEnd(7)}  ${message}`,
    ...(advice === undefined ? [] : [`${indent}→ ${advice}`]),
  ])
}
