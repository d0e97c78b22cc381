// Whether this server can send mail at all.

import type { Config } from '../../config/index.ts'

/** A mail server is named, or the command of this machine is used. */
export const sendsMail = ({ smtp }: Config): boolean => smtp.hostname !== null || smtp.transport === 'sendmail'
