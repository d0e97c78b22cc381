// Accessibility rules of axe-core, run on a page in a browser.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * By the rules of axe-core, those of WCAG 2.2 A and AA and its good practices: names of all controls among them. The order of
 * headings is that of people, in what they write.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const rules = { rules: { 'heading-order': { enabled: false } } }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(rules)})`)) as AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`)
}
