// Secrets at rest: encryption (AES-256-GCM) and keyed hashes, derived from one secret of the installation.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Secrets = ReturnType<typeof makeSecrets>

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const SECRET_FILE = 'secret.key'

/** Keys are derived from `secret` with HKDF-SHA-256 (RFC 5869), one per use. */
export function makeSecrets({ secret }: { secret: string }) {
  if (secret === '') throw new Error('The secret is empty: set secrets.peertube in the configuration')
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, 'vireo', use, KEY_BYTES))
  const sealKey = derive('seal')
  return {
    /** Encrypts text for a column or a file; each call gives a different result. */
    seal(plaintext: string) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, sealKey, iv)
      const encrypted = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`
    },
    /** Decrypts the result of `seal`. Throws if it was altered or sealed with another secret. */
    open(sealed: string) {
      const [version, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64url')
      if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw new Error('This is not a sealed text')
      const decipher = createDecipheriv(CIPHER, sealKey, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new Error('A sealed text cannot be opened: has the secret of this installation changed?', { cause })
      }
    },
    /** A keyed hash (HMAC-SHA-256, hexadecimal), separate for each purpose; for signed links and the like. */
    hmac(purpose: string, text: string) {
      return createHmac('sha256', derive(`hmac ${purpose}`))
        .update(text)
        .digest('hex')
    },
  }
}

/**
 * The configured secret, or the one in `<dataDir>/secret.key`, which is created on the first start (mode 0600). Without that file nothing
 * sealed can be opened: include it in backups.
 */
export async function loadOrCreateSecret(options: { configured: string; dataDir: string }): Promise<string> {
  if (options.configured !== '') return options.configured
  const file = join(options.dataDir, SECRET_FILE)
  const secret = (await readIfThere(file)) ?? (await create(options.dataDir, file))
  if (secret === '') throw new Error(`${file} is empty: restore it from a backup, or set secrets.peertube`)
  return secret
}

/** By link, so that of two processes that start together one creates the file and both read the same. */
async function create(dataDir: string, file: string): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(temporary, `${randomBytes(KEY_BYTES).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    await link(temporary, file)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    await rm(temporary, { force: true })
  }
  return (await readIfThere(file)) ?? ''
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, 'utf8')
    await chmod(file, 0o600)
    return text.trim()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** By shape: Node's own errors are no instances of the `Error` in tests. */
const isCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code
