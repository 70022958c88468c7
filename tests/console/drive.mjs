// Drives the console in a browser: `node drive.mjs URL FOLDER PLAN`. The plan is JSON: steps, each a list of words. Prints what
// was seen as JSON: errors, dialogs, requests to elsewhere, and the answers of the steps that ask something.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'

const require = createRequire(new URL('../../console/', import.meta.url))
const { chromium } = require('playwright-core')
const [base, folder, plan] = process.argv.slice(2)
const seen = { errors: [], dialogs: [], elsewhere: [], answers: {} }

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
const page = await browser.newPage({ viewport: { width: 1360, height: 860 } })
page.setDefaultTimeout(20000)
page.on('console', (message) => { if (message.type() === 'error') seen.errors.push(message.text()) })
page.on('pageerror', (error) => seen.errors.push(error.message))
page.on('dialog', (dialog) => { seen.dialogs.push(dialog.message()); void dialog.dismiss() })
page.on('request', (request) => { if (!request.url().startsWith(base) && !request.url().startsWith('data:')) seen.elsewhere.push(request.url()) })

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }
// What is behind an open dialog is inert.
const at = async () => (await page.locator('dialog[open]').count() ? page.locator('dialog[open]') : page)

const steps = {
  open: (hash) => page.goto(`${base}/${hash}`),
  reload: () => page.reload(),
  login: async (user, password) => {
    await page.fill('input[name=user]', user)
    await page.fill('input[name=password]', password)
    await page.click('button.main')
    await page.waitForSelector('nav')
    seen.errors.length = 0 // the first look for a session is answered by 401
  },
  see: (text) => page.getByText(text, { exact: false }).first().waitFor(),
  click: async (name) => (await at()).getByRole('button', { name }).first().click(),
  row: (name) => page.getByRole('button', { name, exact: true }).first().click(),
  follow: (name) => page.getByRole('link', { name, exact: true }).first().click(),
  tab: (name) => page.getByRole('tab', { name }).click(),
  fill: async (label, text) => (await at()).getByLabel(label).first().fill(text),
  tick: async (label) => (await at()).getByLabel(label).first().check(),
  choose: async (label, option) => (await at()).getByLabel(label).first().selectOption(option),
  check: async (name, coloursOnly = false) => {
    await page.evaluate(axe)
    const found = await page.evaluate((rules) => axe.run(document, rules), coloursOnly ? { runOnly: ['color-contrast'] } : RULES)
    seen.answers[name] = found.violations.map((each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(' | ')}`)
  },
  tabs: async (expression) => {
    for (let press = 0; press < 40; press += 1) {
      if (await page.evaluate(expression)) return
      await page.keyboard.press('Tab')
    }
    throw new Error('it was not reached')
  },
  press: (key, times = 1) => Promise.all(Array.from({ length: times }, () => page.keyboard.press(key))),
  answer: async (name) => { await page.locator('dialog[open]').getByRole('button', { name }).click(); await page.locator('dialog[open]').waitFor({ state: 'detached' }) },
  shoot: async (name) => { await page.waitForTimeout(150); await page.screenshot({ path: `${folder}/${name}.png` }) },
  // Chromium reports each 404 that a page asked for on purpose.
  forgive: () => { seen.errors = seen.errors.filter((each) => !/^Failed to load resource: .* 404/.test(each)) },
  scheme: (scheme) => page.emulateMedia({ colorScheme: scheme }),
  size: (width, height) => page.setViewportSize({ width, height }),
  ask: async (name, expression) => { seen.answers[name] = await page.evaluate(expression) },
  // Not by waitForFunction, which the content security policy rightly forbids.
  until: async (expression) => {
    const until = Date.now() + 20000
    while (!await page.evaluate(expression)) {
      if (Date.now() > until) throw new Error('it did not come true')
      await page.waitForTimeout(50)
    }
  },
}
try {
  for (const [verb, ...words] of JSON.parse(readFileSync(plan, 'utf8'))) {
    try { await steps[verb](...words) } catch (problem) {
      await page.screenshot({ path: `${folder}/failed.png` })
      throw new Error(`${verb} ${words.join(' ')}: ${problem.message}`)
    }
  }
} catch (problem) {
  seen.failed = problem.message
} finally {
  await browser.close()
}
console.log(JSON.stringify(seen))
