// Part of `npm run check` (check-database.ts): each SQL statement fits the tables, and its columns have the names and types that its row type says. A migrated
// PostgreSQL and the compiler describe both. Statements that functions put together are left to the tests.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, type Connection, type FieldDef, type Submittable, types } from 'pg'
import type { Node } from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { API, type Project, SymbolFlags, type Type } from 'typescript/unstable/sync'

export interface Statement {
  /** `src/main.ts:12` */
  place: string
  text: string
  /** The properties of the row type; empty without one. */
  row: Property[]
}

interface Property {
  name: string
  /** Without null: the kinds of a union. */
  kinds: string[]
}

const SQL = /^\s*(?:select|insert|update|delete|with|merge)\b/i

/** The calls of `query` below `folder` whose SQL is constant, and the number of the others. */
export function statementsIn(tsconfig: string, folder: string): { statements: Statement[]; others: number } {
  const api = new API({ cwd: folder })
  try {
    const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects()
    const files = (project?.rootFiles ?? []).filter((file) => file.startsWith(folder))
    const calls = files.flatMap((file) => (project ? callsIn(project, file) : []))
    const statements = calls.filter((call) => call !== undefined)
    return { statements, others: calls.length - statements.length }
  } finally {
    api.close()
  }
}

function callsIn(project: Project, file: string): (Statement | undefined)[] {
  const source = project.program.getSourceFile(file)
  const found: (Statement | undefined)[] = []
  const visit = (node: Node): void => {
    node.forEachChild(visit)
    if (!source || !is.isCallExpression(node)) return
    const { expression, arguments: values, typeArguments } = node
    const called = is.isPropertyAccessExpression(expression) ? expression.name : expression
    if (!is.isIdentifier(called) || called.text !== 'query' || !values[0]) return
    const text = constantOf(project, values[0])
    const place = `${file}:${source.text.slice(0, node.getStart(source)).split('\n').length}`
    const type = typeArguments?.[0] && project.checker.getTypeFromTypeNode(typeArguments[0])
    found.push(text !== undefined && SQL.test(text) ? { place, text, row: type ? propertiesOf(project, type) : [] } : undefined)
  }
  if (source) visit(source)
  return found
}

/** The text of literals, and of templates and constants that consist of them. */
function constantOf(project: Project, node: Node): string | undefined {
  if (is.isStringLiteral(node) || is.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (is.isTemplateExpression(node)) {
    const parts = node.templateSpans.map(({ expression, literal }) => [constantOf(project, expression), literal.text])
    return parts.some(([value]) => value === undefined) ? undefined : [node.head.text, ...parts.flat()].join('')
  }
  const { checker } = project
  const type = checker.getTypeAtLocation(node)
  if (type?.isLiteralType()) return String(type.value)
  const symbol = is.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
  const declared = symbol && (symbol.valueDeclaration ?? checker.getAliasedSymbol(symbol).valueDeclaration)?.resolve(project)
  return declared && is.isVariableDeclaration(declared) && declared.initializer ? constantOf(project, declared.initializer) : undefined
}

/** Optional properties need no column. */
const propertiesOf = ({ checker }: Project, row: Type): Property[] => {
  const kindsOf = (type: Type | undefined): string[] => {
    if (type?.isUnionType()) return (type.getTypes() ?? []).flatMap(kindsOf)
    if (!type) return []
    const kinds = { number: checker.getNumberType(), string: checker.getStringType(), boolean: checker.getBooleanType() }
    const kind = Object.entries(kinds).find(([, plain]) => checker.isTypeAssignableTo(type, plain))?.[0]
    return [kind ?? (checker.isArrayType(type) ? 'array' : checker.typeToString(type).replace(/<.*/s, ''))]
  }
  return checker
    .getPropertiesOfType(row)
    .filter(({ flags }) => (flags & SymbolFlags.Optional) === 0)
    .map((property) => {
      const type = checker.getTypeOfSymbol(property)
      return { name: property.name, kinds: kindsOf(type && checker.getNonNullableType(type)) }
    })
}

const { BOOL, BYTEA, CHAR, DATE, FLOAT4, FLOAT8, INT2, INT4, INT8, NAME, NUMERIC, TEXT, TIMESTAMPTZ, UUID, VARCHAR, VOID } = {
  ...types.builtins,
  NAME: 19,
  VOID: 2278,
}
/** The driver's values by type of PostgreSQL, as `platform/database` sets its parsers. JSON is whatever the type says. */
const KINDS = new Map<number, string>([
  ...[INT2, INT4, INT8, FLOAT4, FLOAT8].map((oid) => [oid, 'number'] as const),
  ...[TEXT, VARCHAR, CHAR, UUID, NAME, NUMERIC, VOID].map((oid) => [oid, 'string'] as const),
  ...[DATE, TIMESTAMPTZ].map((oid) => [oid, 'Date'] as const),
  [BOOL, 'boolean'],
  [BYTEA, 'Buffer'],
])

/** What the row type of a statement says about its columns, but PostgreSQL does not. */
export const rowFaults = ({ place, row }: Statement, fields: readonly FieldDef[]): string[] =>
  row.flatMap(({ name, kinds }) => {
    const field = fields.find((one) => one.name === name)
    if (!field) return [`${place} has no column ${name}`]
    const kind = KINDS.get(field.dataTypeID)
    return kind === undefined || kinds.includes(kind) ? [] : [`${place} ${name} is ${kind}, not ${kinds.join(' | ')}`]
  })

/** The columns of a statement, which is not run. Rejects if it does not fit the tables. */
export function describeStatement(client: Client, text: string): Promise<FieldDef[]> {
  const { promise, resolve, reject } = Promise.withResolvers<FieldDef[]>()
  let fields: FieldDef[] = []
  client.query({
    submit(wire: Connection) {
      wire.parse({ text, name: '', types: [] }, true)
      wire.describe({ type: 'S', name: '' }, true)
      wire.sync()
    },
    handleRowDescription(message: { fields: FieldDef[] }) {
      fields = message.fields
    },
    handleError: reject,
    handleReadyForQuery: () => resolve(fields),
  } as Submittable)
  return promise
}

/** The statements of the server that do not fit a database, one line each, and what was looked at. */
export async function statementFaults(databaseUrl: string): Promise<{ faults: string[]; summary: string }> {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const { statements, others } = statementsIn(join(root, 'tsconfig.json'), join(root, 'src'))
  const client = new Client(databaseUrl)
  await client.connect()
  const faults: string[] = []
  for (const statement of statements) {
    const fields = await describeStatement(client, statement.text).catch((error: Error) => error)
    faults.push(...(fields instanceof Error ? [`${statement.place} ${fields.message}`] : rowFaults(statement, fields)))
  }
  await client.end()
  if (statements.length === 0) faults.push('No statement was found.')
  return {
    faults: faults.map((fault) => fault.replace(root, '')),
    summary: `${statements.length} statements (${others} more are put together by functions)`,
  }
}
