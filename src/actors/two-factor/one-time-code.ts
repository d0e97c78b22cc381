// One-time codes of authenticator apps: TOTP (RFC 6238) with SHA-1, six digits and steps of 30 s, which all apps support.

import { verify } from 'otplib'

const STEP_SECONDS = 30

/** The time step of a code, with a drift of one step to either side; undefined if the code is wrong. `secret` is in base 32. */
export async function stepOfCode(secret: string, code: string, now: Date): Promise<number | undefined> {
  if (!/^\d{6}$/.test(code)) return undefined
  const result = await verify({
    secret,
    token: code,
    epoch: Math.floor(now.getTime() / 1000),
    epochTolerance: STEP_SECONDS,
  })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}

/**
 * Content of the QR code for apps (the Key URI format of Google Authenticator). Built here, since the library leaves out the parameters,
 * and does not encode a port's colon, which would separate issuer and label.
 */
export function enrolmentUri({ issuer, label, secret }: { issuer: string; label: string; secret: string }): string {
  const parameters = new URLSearchParams({
    issuer,
    secret,
    algorithm: 'SHA1',
    digits: '6',
    period: String(STEP_SECONDS),
  })
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(label)}?${parameters}`
}
