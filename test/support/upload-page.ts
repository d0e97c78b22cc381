// The upload page in a browser: files to send, and what is done and read on the page.

import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { media } from './media.ts'
import type { TestNode } from './node.ts'
import { run } from './postgres.ts'

export const PIECE = 8 * 1024 * 1024

export const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A video that ends with `end` in the piece after `pieces` of them, in a box that players skip. */
export async function writeTake(path: string, { end, pieces = 1 }: { end: string; pieces?: number }): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  const box = Buffer.alloc(pieces * PIECE + 8)
  box.writeUInt32BE(box.length)
  box.write('free', 4)
  box.write(end, box.length - end.length)
  await writeFile(path, Buffer.concat([await readFile(await media('small.mp4')), box]))
  return path
}

export async function logIn(page: Page, { base, username, password }: Pick<TestNode, 'base' | 'username' | 'password'>): Promise<void> {
  await page.goto(`${base}/login`)
  await page.getByLabel('User name').fill(username)
  await page.locator('[name="password"]').fill(password)
  await press(page, 'Log in')
  await page.getByRole('link', { name: 'Log out' }).waitFor()
}

export const press = (page: Page, name = 'Upload') => page.getByRole('main').getByRole('button', { name, exact: true }).click()
/** The row of a file. */
export const rowOf = (page: Page, file: string) => page.locator('.uploads li').filter({ hasText: file })
export const sent = (page: Page, file: string) => rowOf(page, file).getByText('Uploaded but for its end').waitFor()
export const uploaded = (page: Page, file = '') => rowOf(page, file).getByRole('link', { name: 'Edit the details' }).waitFor()
export const lost = (page: Page) => page.getByText('The connection is lost.').waitFor()

/** Content ranges, and methods without one, of the requests to uploads from now on. */
export function requestsOf(page: Page): string[] {
  const seen: string[] = []
  page.on('request', (one) => {
    if (one.url().includes('/videos/upload/pieces')) seen.push(one.headers()['content-range'] ?? one.method())
  })
  return seen
}

export const videosIn = ({ databaseUrl }: TestNode, name: string) =>
  run(databaseUrl, `select name, privacy from video where name like '${name}%' order by id`)
export const uploadsIn = ({ databaseUrl }: TestNode, file: string) =>
  run<{ state: string; received: string }>(
    databaseUrl,
    `select state, received from upload where file_name like '${file}%' order by file_name`,
  )
