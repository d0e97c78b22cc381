// A strict parser of XML 1.0 with namespaces: throws for input that is not well-formed.

export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

const TOKEN = /<!\[CDATA\[([\s\S]*?)\]\]>|<\/([\w:.-]+)\s*>|<([A-Za-z_][\w:.-]*)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)|</g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function parseXml(text: string): XmlElement {
  if (ILLEGAL.test(text)) throw new Error('a character that XML does not have')
  const body = text.replace(/^<\?xml version="1\.0" encoding="utf-8"\?>/, '')
  if (body === text) throw new Error('no declaration')
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const open: { element: XmlElement; prefixes: string[] }[] = [{ element: root, prefixes: ['xml'] }]
  for (const [all, cdata, closing, name, written, isEmpty, plain] of body.matchAll(TOKEN)) {
    const { element, prefixes } = open.at(-1) ?? { element: root, prefixes: [] }
    if (cdata !== undefined) element.text += cdata
    else if (plain !== undefined) element.text += unescaped(plain)
    else if (closing !== undefined) {
      if (open.pop()?.element.name !== closing) throw new Error(`</${closing}> closes nothing`)
    } else if (name !== undefined) {
      const child: XmlElement = { name, attributes: attributesOf(written ?? ''), children: [], text: '' }
      const declared = Object.keys(child.attributes).flatMap((key) => (/^xmlns:(.+)$/.exec(key) ?? []).slice(1))
      const known = [...prefixes, ...declared]
      const prefix = name.includes(':') ? name.split(':')[0] : undefined
      if (prefix !== undefined && !known.includes(prefix)) throw new Error(`${name} has no namespace`)
      element.children.push(child)
      if (isEmpty === '') open.push({ element: child, prefixes: known })
    } else throw new Error(`not well-formed: ${all} …${body.slice(body.indexOf(all), 80)}`)
  }
  const [only, ...others] = root.children
  if (open.length !== 1 || !only || others.length > 0 || root.text.trim() !== '') throw new Error('not one element')
  return only
}

function attributesOf(written: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, name = '', value = ''] of written.matchAll(/([\w:.-]+)="([^"]*)"/g)) {
    if (name in found) throw new Error(`${name} twice`)
    found[name] = unescaped(value)
  }
  return found
}

function unescaped(text: string): string {
  if (text.includes(']]>')) throw new Error('the end of a CDATA section that did not begin')
  return text.replace(/&(\w*)(;?)/g, (entity, name: string, end: string) => {
    const char = ENTITIES[name]
    if (char === undefined || end === '') throw new Error(`no entity: ${entity}`)
    return char
  })
}

/** The direct children with this name. */
export const all = (element: XmlElement, name: string): XmlElement[] => element.children.filter((child) => child.name === name)

/** The only direct child with this name. */
export function one(element: XmlElement, name: string): XmlElement {
  const [found, ...others] = all(element, name)
  if (!found || others.length > 0) throw new Error(`${element.name} has not one ${name}`)
  return found
}
