// `vireo doctor`: checks everything that the server needs, and gives advice. Changes nothing.

import { emailAddress } from '../http/users/fields.ts'
import { type Finding, runChecks, type Status } from './doctor/check.ts'
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
      const patient = { loaded, env, database, ...(sendMailTo === undefined ? {} : { sendMailTo }) }
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

function table(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const indent = ' '.repeat(width + 11)
  return findings.flatMap(({ check, status, message, advice }) => [
    `${check.padEnd(width)}  ${MARKS[status].padEnd(7)}  ${message}`,
    ...(advice === undefined ? [] : [`${indent}→ ${advice}`]),
  ])
}
