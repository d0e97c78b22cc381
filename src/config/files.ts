// Reads one YAML (or JSON) configuration file.

import { readFileSync } from 'node:fs'
import { LineCounter, parseDocument } from 'yaml'
import { ConfigError } from './errors.ts'
import { isValues, type Layer } from './layers.ts'

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'it is a directory',
}

/** Throws ConfigError with one line that names the file and, for invalid YAML, line and column. */
export function readConfigFile(file: string): Layer {
  const lineCounter = new LineCounter()
  const document = parseDocument(readText(file), { lineCounter, prettyErrors: false, merge: true })
  const [error] = document.errors
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    throw new ConfigError([`${file}:${line}:${col}: this is not YAML: ${error.message.split('\n', 1)[0]}`])
  }
  const values: unknown = toValues(file, () => document.toJS())
  if (values === null || values === undefined) return { label: file, values: {} }
  if (!isValues(values)) throw new ConfigError([`${file}:1:1: expected sections with keys, such as "listen:"`])
  return { label: file, values }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error)
    throw new ConfigError([`The configuration file ${file} cannot be read: ${REASONS[code] ?? code}`])
  }
}

/** Aliases are resolved only here, so an endless or unknown one is found here. */
function toValues(file: string, read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    const reason = String(error).split('\n', 1)[0]
    throw new ConfigError([`${file}: this is not YAML: ${reason}`])
  }
}
