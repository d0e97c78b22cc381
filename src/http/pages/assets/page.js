// Spares reloads: forms are sent in the background and the page's content is replaced by the answer. Switches notifications of
// this device on and off. One script with uploads.js before it. Without it every form works by itself.

globalThis.pageForms = { mark }

const TEXTS = JSON.parse(document.querySelector('script[src*="/page-"]').dataset.texts)
const PROGRESS_MS = 4000
/** In this browser: the user whom it notifies. */
const PUSHED = 'push'
/** In this tab: what was typed before a login, or before an upload was left. */
const TYPED = 'typed'

addEventListener('submit', (event) => {
  const form = event.target
  if (form.ariaBusy) return event.preventDefault()
  const question = event.submitter?.dataset.confirm
  if (question && !form.elements.confirmed) {
    if (!confirm(question)) return event.preventDefault()
    // The server reads what is before the files.
    form.prepend(make('input', { type: 'hidden', name: 'confirmed', value: 'true' }))
  }
  if (form.matches('[data-upload]')) {
    event.preventDefault()
    uploadForms.confirmUploads()
  } else if (form.matches('[data-swap]') && event.submitter?.name !== 'preview') {
    event.preventDefault()
    swap(form, event.submitter)
  } else if (form.matches('[action="/logout"]') && localStorage.getItem(PUSHED)) {
    event.preventDefault()
    endPush(form.elements.token.value).finally(() => form.submit())
  } else forget(form)
})

// Somebody may come back to the page as it was left.
addEventListener('pagehide', () => {
  for (const form of document.forms) release(form)
})

/** It can be sent again, and asks again. */
function release(form) {
  form.ariaBusy = null
  form.elements.confirmed?.remove()
}

// Fields are marked as typed until they are sent; the server marks forms that it shows again with what was typed.
addEventListener('input', ({ target }) => {
  if (target.form?.elements.part) target.dataset.typed = ''
})

addEventListener('beforeunload', (event) => {
  if (document.querySelector('[data-typed]:not([name="id"])')) event.preventDefault()
})

addEventListener('reset', ({ target }) => forget(target))

function forget(form) {
  for (const marked of [form, ...form.querySelectorAll('[data-typed]')]) delete marked.dataset.typed
}

async function swap(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter))
  // What is typed from now on stays.
  forget(form)
  form.ariaBusy = 'true'
  try {
    const answer = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } })
    const page = await pageIn(answer)
    release(form)
    if (pathOf(answer.url) === '/login') return keepTyped(form, answer.url)
    // Lines that are typed meanwhile differ from those that are saved now.
    const { before } = form.elements
    if (answer.ok && before) before.value = body.get(form.querySelector('textarea').name)
    // Without the form it would take what was typed with it, such as a refusal of too many requests.
    if (!answer.ok && !page.querySelector(`[name="part"][value="${form.elements.part?.value}"]`)) return complain(form, page)
    show(page, answer.url, form)
  } catch {
    // The browser does it, and says what is wrong.
    form.ariaBusy = null
    form.removeAttribute('data-swap')
    form.requestSubmit(submitter)
  }
}

/** For the return to the page, such as from a login at the address. Passwords are not kept, nor a title that was suggested. */
function keepTyped(form, address) {
  const isOpen = ({ id, name, type }) => id && !/password/i.test(name) && !['password', 'file'].includes(type)
  const fields = [...form.elements].filter((field) => isOpen(field) && field.dataset.suggested !== field.value)
  const typed = ({ id, checked, value, selectedOptions = [] }) => [id, checked, value, [...selectedOptions].map((option) => option.value)]
  sessionStorage.setItem(TYPED, JSON.stringify({ path: pathOf(form.action), fields: fields.map(typed) }))
  if (!address) return
  forget(form)
  location.assign(address)
}

function restoreTyped() {
  const { path, fields } = JSON.parse(sessionStorage.getItem(TYPED) ?? '{}')
  if (path !== location.pathname) return
  sessionStorage.removeItem(TYPED)
  for (const [id, checked, value, chosen] of fields) {
    const field = document.getElementById(id)
    if (field?.options) for (const option of field.options) option.selected = chosen.includes(option.value)
    else if (field) Object.assign(field, { checked, value })
    if (field) field.dataset.typed = ''
  }
}

function complain(form, page) {
  form.querySelector('.refused')?.remove()
  form.dataset.typed = ''
  const problem = make('p', { className: 'problem refused', role: 'alert' }, saidIn(page))
  form.prepend(problem)
  problem.scrollIntoView({ block: 'nearest' })
}

/** Shows at the fields of a form what an answered page says about them, or nothing. */
function mark(form, page) {
  for (const field of form.querySelectorAll('[id][name]')) {
    document.getElementById(`${field.id}-refused`)?.remove()
    const note = page?.getElementById(field.id)?.ariaInvalid && page.getElementById(`${field.id}-note`)
    field.ariaInvalid = note ? 'true' : null
    if (!note) continue
    note.id = `${field.id}-refused`
    field.setAttribute('aria-describedby', `${field.id}-note ${note.id}`)
    field.after(note)
    field.closest('details')?.setAttribute('open', '')
  }
}

const saidIn = (page) => page.querySelector('[role="alert"]')?.textContent ?? page.title
const pathOf = (address) => new URL(address, location.href).pathname
const pageIn = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')

/** Replaces the region of a sent form, or all of the content, but for what is typed into other forms. After a mere look it says nothing. */
function show(page, address, sent) {
  const region = sent?.closest('[data-region]')?.id
  const from = (region && page.getElementById(region)) || page.querySelector('main')
  const place = (region && page.getElementById(region) && document.getElementById(region)) || document.querySelector('main')
  if (!from || (!region && pathOf(address) !== location.pathname)) return location.assign(address)
  if (!sent) for (const said of from.querySelectorAll('[role="alert"], [role="status"]')) said.removeAttribute('role')
  const typed = place.querySelectorAll('[data-typed][id], [data-typed] [id][name], textarea[data-typed] ~ [name="before"]')
  const focused = place.contains(document.activeElement) && document.activeElement
  const kept = [...place.querySelectorAll('details, .table')].map(({ open, scrollLeft }) => ({ open, scrollLeft }))
  place.replaceWith(document.adoptNode(from))
  for (const [index, part] of from.querySelectorAll('details, .table').entries())
    Object.assign(part, { ...kept[index], open: part.open || kept[index]?.open })
  for (const part of ['title', '.name bdi']) document.querySelector(part).textContent = page.querySelector(part)?.textContent ?? ''
  begin()
  for (const field of typed) {
    document.getElementById(field.id)?.replaceWith(field)
    field.ariaInvalid = null
    field.dataset.typed = ''
  }
  const problem = sent && document.querySelector('[aria-invalid], [role="alert"], [role="status"]')
  if (problem?.matches('[aria-invalid]')) return problem.focus()
  problem?.scrollIntoView({ block: 'nearest' })
  const moved = sent && from.querySelector('[autofocus]')
  if (moved) moved.focus()
  else if (focused) returnFocus(from, focused, problem)
}

/** Focuses the control that was focused before its place was replaced, or else what is said. */
function returnFocus(place, focused, said) {
  const keyOf = ({ tagName, type, name, value, href, textContent, form }) =>
    JSON.stringify([tagName, name, /submit|checkbox|radio/.test(type) && value, href, textContent, form?.elements.part?.value])
  const key = keyOf(focused)
  const controls = [...place.querySelectorAll(':is(a, button, input, select, textarea, summary):not(:disabled)')]
  const twin = controls.find(({ id }) => id && id === focused.id) ?? controls.find((control) => keyOf(control) === key)
  const target = twin ?? said ?? place
  if (!twin) target.tabIndex = -1
  target.focus({ preventScroll: true })
}

// The browser cannot say what is wrong with a field that is not shown.
addEventListener('invalid', ({ target }) => target.closest('details')?.setAttribute('open', ''), true)

function begin() {
  for (const heading of document.querySelectorAll('form table thead th:first-child .away:only-child')) {
    const all = make('input', { type: 'checkbox', ariaLabel: TEXTS.selectAll })
    all.addEventListener('change', () => {
      for (const box of all.form.querySelectorAll('[name="id"]')) box.checked = all.checked
    })
    heading.after(all)
  }
  for (const form of document.querySelectorAll('[data-upload]')) uploadForms.beginUpload(form)
  for (const form of document.querySelectorAll('[data-push]')) beginPush(form)
  restoreTyped()
}

/** Looks again while something is under way, and nobody types. `before`: what was seen the last time. */
async function look(before) {
  const isIdle = () =>
    document.querySelector('[data-progress]') && !document.hidden && !document.querySelector('[data-typed], main form :focus')
  const answer = isIdle() && (await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined))
  const page = answer?.ok && (await pageIn(answer))
  const now = page && isIdle() ? page.querySelector('main')?.outerHTML : before
  setTimeout(look, PROGRESS_MS, now)
  if (now !== before) show(page, answer.url)
}

function make(name, properties, ...content) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...content)
  return element
}

/** Refusals are final; a server that is away or busy is not. */
function refusalOf(status, detail, more) {
  const isFinal = status < 500 && ![408, 409, 429].includes(status)
  const said = detail || (isFinal ? TEXTS.refused.replace('{status}', status) : TEXTS.lost)
  return Object.assign(new Error(said), { isFinal, status, ...more })
}

const subscription = async () => (await navigator.serviceWorker?.getRegistration('/'))?.pushManager?.getSubscription()

/** The switch of this device, if the browser can be notified. */
async function beginPush(form) {
  if (!navigator.serviceWorker || !window.PushManager) return
  const box = form.querySelector('[type="checkbox"]')
  // The other form is there if the server knows a device.
  const isKnown = document.querySelector('[value="no-push"]') && localStorage.getItem(PUSHED) === form.dataset.user
  box.checked = Boolean(isKnown && (await subscription()))
  box.closest('p').hidden = false
  box.onchange = async () => {
    box.disabled = true
    try {
      const token = form.elements.token.value
      show(...(box.checked ? await startPush(token, form.dataset) : await endPush(token)), form)
    } catch (error) {
      box.checked = !box.checked
      form.querySelector('output').textContent = error.isFinal ? error.message : TEXTS.notNotified
    }
    box.disabled = false
  }
}

/** A subscription that is left of somebody else is not used again. */
async function startPush(token, { push, user }) {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(TEXTS.notNotified)
  await navigator.serviceWorker.register(`/push-worker.js?${user}`)
  const { pushManager } = await navigator.serviceWorker.ready
  await (await pushManager.getSubscription())?.unsubscribe()
  const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: push })).toJSON()
  const answer = await sendDevice({ part: 'push', token, endpoint, ...keys })
  localStorage.setItem(PUSHED, user)
  return answer
}

async function endPush(token) {
  localStorage.removeItem(PUSHED)
  const known = await subscription()
  await known?.unsubscribe()
  // Without an endpoint all devices would be meant.
  return await sendDevice({ part: 'no-push', token, endpoint: known?.endpoint ?? 'none' })
}

async function sendDevice(fields) {
  const headers = { accept: 'text/html' }
  const answer = await fetch('/my-account/settings', { method: 'POST', body: new URLSearchParams(fields), headers })
  if (!answer.ok) throw refusalOf(answer.status)
  return [await pageIn(answer), answer.url]
}

begin()
setTimeout(look, PROGRESS_MS)
