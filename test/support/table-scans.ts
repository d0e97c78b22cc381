// Which rows of a table a statement reads, by EXPLAIN ANALYZE.

import type { Database } from '../../src/platform/database/index.ts'

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

/** The plan nodes that scan the table, with their row counts. */
export async function tableScans(
  db: Pick<Database, 'query'>,
  table: string,
  text: string,
  values: readonly unknown[],
): Promise<{ node: string; rows: number }[]> {
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
  const found: { node: string; rows: number }[] = []
  const visit = (plan: Plan): void => {
    if (plan['Relation Name'] === table) {
      found.push({ node: plan['Node Type'], rows: plan['Actual Rows'] * plan['Actual Loops'] })
    }
    plan.Plans?.forEach(visit)
  }
  for (const { Plan: plan } of explained?.['QUERY PLAN'] ?? []) visit(plan)
  return found
}
