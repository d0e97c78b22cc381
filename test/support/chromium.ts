// A real browser for tests: headless Chromium of this machine. Errors of pages are collected, not printed.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

export interface Person {
  page: Page
  /** Console errors since the last call: script errors, CSP violations and failed requests. */
  complaints(): string[]
  /** Opens a URL, and waits until the page has loaded all its resources. */
  open(url: string): Promise<Opened>
}

export interface Opened {
  status: number
  /** Uncompressed bytes of the page, its styles and its scripts, without images and media. */
  bytes: number
}

export interface Chromium {
  /** A browser context with its own cookies. */
  person(options?: BrowserContextOptions): Promise<Person>
  close(): Promise<void>
}

/** Throws if no Chromium is installed. */
export async function startChromium(): Promise<Chromium> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox does not run as root; only servers of this machine are opened.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  return {
    async person(options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', ...options })
      return personIn(await context.newPage())
    },
    close: () => browser.close(),
  }
}

function findChromium(): string {
  const { VIREO_TEST_CHROMIUM: named, PATH = '' } = process.env
  const found =
    named ??
    PATH.split(delimiter)
      .flatMap((folder) => NAMES.map((name) => join(folder, name)))
      .find(existsSync)
  if (found === undefined) throw new Error('There is no Chromium on PATH: install it, or name it with VIREO_TEST_CHROMIUM.')
  return found
}

function personIn(page: Page): Person {
  let complaints: string[] = []
  let responses: Response[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('requestfailed', (request) => {
    const [type, reason] = [request.resourceType(), request.failure()?.errorText]
    // Requests are aborted when a page or a player is left while it loads.
    if (type === 'media' || (type === 'image' && reason === 'net::ERR_ABORTED')) return
    complaints.push(`failed: ${request.url()} ${reason}`)
  })
  page.on('response', (response) => responses.push(response))
  return {
    page,
    complaints() {
      const said = complaints
      complaints = []
      return said
    },
    async open(url) {
      responses = []
      const answer = await page.goto(url, { waitUntil: 'load' })
      return { status: answer?.status() ?? 0, bytes: await weightOf(responses) }
    },
  }
}

async function weightOf(responses: Response[]): Promise<number> {
  const counted = responses.filter(
    (response) => !['image', 'media', 'font'].includes(response.request().resourceType()) && response.status() < 300,
  )
  const sizes = await Promise.all(counted.map(async (response) => (await response.body()).length))
  return sizes.reduce((sum, size) => sum + size, 0)
}
