import { describe, expect, it, vi } from 'vitest';
import type { TextVeto } from '#contracts';
import { decideVeto, VETO_TEXT_CHARS_MAX } from './index.js';

const veto = (one: string, other: string) => decideVeto(one, other, { strict: false });
const strictVeto = (one: string, other: string) => decideVeto(one, other, { strict: true });
const answerVeto = (one: string, other: string) => decideVeto(one, other, { strict: true, oneAnswer: true });

describe('what the embedder cannot be trusted to see', () => {
  it.each<[TextVeto, string, string]>([
    ['numbers', 'Read page 3 of the report', 'Read page 4 of the report'],
    ['numbers', 'Refund order 12.', 'Refund order 13.'],
    ['numbers', 'Refund order #4821', 'Refund order #4812'],
    ['numbers', 'Refund the order', 'Refund order 12'],
    ['numbers', 'Refund the order', 'Refund order 1'],
    ['numbers', 'Refund order 1', 'Refund the order'],
    ['numbers', 'Book a table for two', 'Book a table for twelve'],
    ['numbers', 'transfer two hundred dollars', 'transfer two thousand dollars'],
    ['numbers', 'Give me twenty-five names', 'Give me twenty-four names'],
    ['numbers', 'Set the timeout to 30 seconds', 'Set the timeout to 30 minutes'],
    ['numbers', 'Set the timeout to 30s', 'Set the timeout to 300s'],
    ['numbers', 'a discount of 10%', 'a discount of 15%'],
    ['numbers', 'a discount of 10%', 'a discount of $10'],
    ['numbers', 'pay $5', 'pay €5'],
    ['numbers', 'how many bytes are 3 GB', 'how many bytes are 3 Gb'],
    ['numbers', 'how many bytes are 3GB', 'how many bytes are 3Gb'],
    ['numbers', 'how many bytes are 3GB', 'how many bytes are 3GiB'],
    ['numbers', 'a plant of 5 MW', 'a plant of 5 mW'],
    ['numbers', 'a plant of 5MW', 'a plant of 5mW'],
    ['numbers', 'a dose of 5 mg', 'a dose of 5 Mg'],
    ['code', 'a battery of 5 MWh', 'a battery of 5 mWh'],
    ['code', 'a line of 100 MBps', 'a line of 100 Mbps'],
    ['code', 'is 5! above 100', 'is 5 above 100'],
    ['code', 'what is 2 * (3 + 4)', 'what is (2 * 3) + 4'],
    ['code', 'is 3 in the interval [1, 3)', 'is 3 in the interval [1, 3]'],
    ['code', 'the type of x = [1, 2]', 'the type of x = (1, 2)'],
    ['code', 'is not (a and b) true', 'is (not a) and b true'],
    ['code', 'what does *p mean in C', 'what does &p mean in C'],
    ['code', 'is !ready the same as ready', 'is ready the same as !ready'],
    ['code', 'what is 6 << 3', 'what is 6 >> 3'],
    ['code', 'what is a ?? b', 'what is a ?. b'],
    ['code', 'for i in x:\n  n += i\nshow n', 'for i in x:\n  n += i\n  show n'],
    ['code', 'is 5! above 3!', 'is 5! above 3'],
    ['code', 'a pattern with [a-z]+ in it', 'a pattern with [A-Z]+ in it'],
    ['code', 'a pattern with \\d+ in it', 'a pattern with \\D+ in it'],
    ['entities', 'what does IT do for us', 'what does it do for us'],
    ['entities', 'what does WHO recommend', 'who recommends what'],
    ['numbers', 'is -5 cold', 'is 5 cold'],
    ['numbers', 'Upgrade to v1.2.3', 'Upgrade to v1.2.4'],
    ['numbers', 'Upgrade to Node 20', 'Upgrade to Node 22'],
    ['numbers', 'Close ticket ABC-123', 'Close ticket ABC-124'],
    ['numbers', 'get 550e8400-e29b-41d4-a716-446655440000', 'get 550e8400-e29b-41d4-a716-446655440001'],
    ['numbers', 'ping 192.168.0.1', 'ping 192.168.0.2'],
    ['numbers', 'what is 2 and 3', 'what is 3 and 2'],
    ['numbers', 'change 3 to 5', 'change 5 to 3'],
    ['numbers', 'change 1 to 2', 'change 2 to 1'],
    ['entities', 'Write the function in R', 'write the function rapidly'],
    [
      'entities',
      'Tell me about NASDAQ',
      'tell me about national association securities dealers automated quotations',
    ],
    ['quotes', 'Open "settings"', 'Open mysettings'],
    ['quotes', 'Open "settings"', 'Open settingsx'],
    ['code', 'Open `a.b`', 'Open a.b#c'],
    ['code', 'Open `foo.bar`', 'Open Foo.Bar'],
    ['dates', 'from Monday to Friday', 'from Friday to Monday'],
    ['numbers', 'show the second page', 'show the third page'],
    ['numbers', 'show the 2nd page', 'show the 3rd page'],
    ['numbers', 'show page one', 'show page two'],
    ['numbers', 'show the first entry', 'show the last entry'],
    ['numbers', 'commit a94a8fe5', 'commit b94a8fe5'],
    ['numbers', 'call gpt-4', 'call gpt-5'],
    ['numbers', 'pick twenty thirty', 'pick 50'],
    ['numbers', 'sales in March 45', 'sales in March 46'],
    ['numbers', '退款订单 12。', '退款订单 13。'],
    ['numbers', '读第三页', '读第四页'],
    ['numbers', '给我两个例子', '给我五个例子'],
    ['numbers', '等待30秒', '等待30分钟'],
    ['numbers', '打百分之十的折扣', '打百分之二十的折扣'],
    ['numbers', '全角数字 ３', '全角数字 ４'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(veto(one, other)).toBe(reason);
  });

  it.each<[TextVeto, string, string]>([
    ['dates', 'logs of 2026-11-21', 'logs of 2026-11-22'],
    ['dates', 'logs of 2026-11-21T10:00:00Z', 'logs of 2026-11-21T11:00:00Z'],
    ['dates', 'the weather today', 'the weather tomorrow'],
    ['dates', 'the weather in Berlin', 'the weather in Berlin tomorrow'],
    ['dates', 'a meeting on Monday', 'a meeting on Tuesday'],
    ['dates', 'sales in March', 'sales in April'],
    ['dates', 'sales on November 21', 'sales on November 22'],
    ['dates', 'news of 2024', 'news of 2025'],
    ['dates', 'wake me at 10:30', 'wake me at 11:30'],
    ['dates', 'wake me at 7am', 'wake me at 7pm'],
    ['dates', 'report for this week', 'report for this month'],
    ['dates', 'a daily report', 'a weekly report'],
    ['dates', 'requests per second', 'requests per minute'],
    ['dates', '今天的天气', '明天的天气'],
    ['dates', '星期一开会', '星期二开会'],
    ['dates', '三月的销售额', '四月的销售额'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(veto(one, other)).toBe(reason);
  });

  it.each<[TextVeto, string, string]>([
    ['negation', 'Do not deploy to production.', 'Deploy to production.'],
    ['negation', 'Which users can not log in?', 'Which users can log in?'],
    ['negation', "I can't see the button", 'I can see the button'],
    ['negation', 'I cant see the button', 'I can see the button'],
    ['negation', 'never retry', 'retry'],
    ['negation', 'run it with logging', 'run it without logging'],
    ['negation', 'list files with no owner', 'list files with an owner'],
    ['negation', 'delete the logs, do not keep the mails', 'do not delete the logs, keep the mails'],
    ['negation', 'Turn on the staging server', 'Turn off the staging server'],
    ['negation', 'turn the light on', 'turn the light off'],
    ['negation', 'Enable dark mode', 'Disable dark mode'],
    ['negation', 'Enabling dark mode', 'I want dark mode disabled'],
    ['negation', 'Add the user to the group', 'Remove the user from the group'],
    ['negation', 'what happens before the deploy', 'what happens after the deploy'],
    ['negation', 'show the next entry', 'show the previous entry'],
    ['negation', 'Increase the limit', 'Decrease the limit'],
    ['negation', 'Start the worker', 'Stop the worker'],
    ['negation', 'Cancel my subscription', 'Renew my subscription'],
    ['negation', 'Delete all files', 'List all files'],
    ['negation', 'is the package installed', 'is the package uninstalled'],
    ['negation', 'Encrypt the archive', 'Decrypt the archive'],
    ['negation', 'log in', 'log out'],
    ['negation', 'transfer money to my account', 'transfer money from my account'],
    ['negation', 'the maximum size', 'the minimum size'],
    ['negation', 'pause the queue', 'resume the queue'],
    ['negation', 'approve the request', 'decline the request'],
    ['negation', 'Je voudrais annuler ma commande', 'Je ne voudrais pas annuler ma commande'],
    ['negation', 'Ich möchte mein Abo kündigen', 'Ich möchte mein Abo nicht kündigen'],
    ['negation', 'Ik wil mijn bestelling annuleren', 'Ik wil mijn bestelling niet annuleren'],
    ['negation', 'Quiero que me llamen', 'No quiero que me llamen nunca'],
    ['negation', 'Voglio ricevere le mail', 'Non voglio mai ricevere le mail'],
    ['negation', 'Quero cancelar o pedido', 'Não quero cancelar o pedido'],
    ['negation', 'Jag vill avboka resan', 'Jag vill inte avboka resan'],
    ['negation', 'Chcę anulować zamówienie', 'Nie chcę anulować zamówienia'],
    ['negation', 'Отмени мой заказ', 'Не отменяй мой заказ'],
    ['negation', '不要部署到生产环境。', '部署到生产环境。'],
    ['negation', '打开客厅的灯。', '关闭客厅的灯。'],
    ['negation', '我能登录', '我不能登录'],
    ['negation', '有权限的用户', '没有权限的用户'],
    ['negation', '添加用户', '删除用户'],
    ['negation', '别重启服务', '重启服务'],
    ['negation', '非空字段', '空字段'],
    ['negation', '登录之前', '登录之后'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(veto(one, other)).toBe(reason);
  });

  it.each<[TextVeto, string, string]>([
    ['quotes', 'search for "timeout"', 'search for "refused"'],
    ['quotes', 'search for “timeout”', 'search for “refused”'],
    ['quotes', "search for 'timeout'", "search for 'refused'"],
    ['quotes', 'search for ‘timeout’', 'search for ‘refused’'],
    ['quotes', 'search for «timeout»', 'search for «refused»'],
    ['quotes', 'search for „timeout“', 'search for „refused“'],
    ['quotes', 'replace "a cat" by "a dog"', 'replace "a dog" by "a cat"'],
    ['quotes', '翻译「你好」', '翻译「再见」'],
    ['quotes', '搜索“超时”', '搜索“拒绝”'],
    ['quotes', '介绍《红楼梦》', '介绍《西游记》'],
    ['code', 'Fix the failing test in auth.ts', 'Fix the failing test in user.ts'],
    ['code', 'Read src/server.ts', 'Read src/client.ts'],
    ['code', 'Read /etc/hosts', 'Read /etc/passwd'],
    ['code', 'Read C:\\temp\\a.txt', 'Read C:\\temp\\b.txt'],
    ['code', '读取src/server.ts文件', '读取src/client.ts文件'],
    ['code', 'Test parseDate', 'Test formatDate'],
    ['code', 'Test parse_date', 'Test format_date'],
    ['code', 'Run `npm test`', 'Run `npm start`'],
    ['code', 'Push it', 'Push it with --force'],
    ['code', 'sort -n', 'sort -r'],
    ['code', 'open https://example.org/a', 'open https://example.org/b'],
    ['code', 'write to ann@example.org', 'write to bob@example.org'],
    ['code', 'why ERR_TIMED_OUT', 'why ERR_CONNECTION_REFUSED'],
    ['code', 'explain TypeError', 'explain RangeError'],
    ['code', 'what is C++', 'what is C#'],
    ['code', 'is a < b', 'is a > b'],
    ['code', 'explain\n```\nlet a = 1\n```', 'explain\n```\nlet a = 2\n```'],
    ['code', 'mode=fast', 'mode=safe'],
    ['code', 'rename a.ts to b.ts', 'rename b.ts to a.ts'],
    ['code', 'set $HOME', 'set $PATH'],
    ['code', 'delete *.log', 'delete *.txt'],
    ['code', 'what does push() do', 'what does splice() do'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(veto(one, other)).toBe(reason);
  });

  it.each<[TextVeto, string, string]>([
    ['entities', 'What is the capital of Austria?', 'What is the capital of Australia?'],
    ['entities', 'the weather in Berlin', 'the weather in Madrid'],
    ['entities', 'the weather in berlin', 'the weather in madrid'],
    ['entities', 'Who is Ada Lovelace?', 'Who is Grace Hopper?'],
    ['entities', 'Invite Anna and Bob', 'Invite Anna'],
    ['entities', 'Book a flight from Paris to Rome.', 'Book a flight from Rome to Paris.'],
    ['entities', 'Paris to Rome, how far', 'Rome to Paris, how far'],
    ['entities', 'Translate it into German', 'Translate it into French'],
    ['entities', 'ask the FBI', 'ask the CIA'],
    ['entities', 'which is plan B', 'which is plan C'],
    ['entities', 'which is plan D', 'which is plan S'],
    ['entities', 'what does vitamin d do', 'what does the vitamin do'],
    ['entities', 'World War I', 'World War II'],
    ['entities', 'write it in python', 'write it in java'],
    ['entities', '北京的天气', '上海的天气'],
    ['entities', '翻译成英文', '翻译成日文'],
    ['entities', '从北京飞上海', '从上海飞北京'],
    ['word_order', 'book a ride from here to downtown', 'book a ride from downtown to here'],
    ['word_order', 'how far is it from home to work', 'the way from my work to my home'],
    ['word_order', 'copy from the server to the laptop', 'copy from the laptop to the server'],
    ['word_order', '从仓库运到商店', '从商店运到仓库'],
    ['word_order', 'How much do I owe you for the repair?', 'How much do you owe me for the repair?'],
    ['negation', 'Does the museum open on holidays?', 'Did the museum open on holidays?'],
    ['negation', 'Is the patient able to walk?', 'Was the patient able to walk?'],
    ['word_order', 'What did you tell me about refunds?', 'What did I tell you about refunds?'],
    ['word_order', 'may I share your data with my lawyer', 'may you share my data with your lawyer'],
    ['word_order', 'Do you have to pay tax on gifts?', 'Do I have to pay tax on gifts?'],
    ['word_order', 'Who invited you to their wedding?', 'Who invited them to your wedding?'],
    ['word_order', 'Which dogs do we like?', 'Which dogs like us?'],
    ['word_order', 'Does it hurt the dog?', 'Do you hurt the dog?'],
    ['word_order', 'Could you reset my password', 'Reset your password'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(veto(one, other)).toBe(reason);
  });
});

describe('which of the two texts says it', () => {
  it.each<[TextVeto, string, string]>([
    ['negation', 'Who unpins the topic', 'Who may pin the topic'],
    ['negation', 'turn off the alarm', 'is the alarm on now'],
    ['quotes', 'Delete the branch "fix"', 'Delete the branch fix-up'],
    ['quotes', `Explain "${'a b '.repeat(40)}"`, `Explain ${'a b '.repeat(40)}`],
  ])('makes no difference, %s: "%s" is not "%s"', (reason, one, other) => {
    expect([veto(one, other), veto(other, one)]).toEqual([reason, reason]);
  });
});

describe('rewordings that pass', () => {
  it.each([
    ['How do I reset my password?', 'how do i reset my password'],
    ['How do I reset my password?', 'HOW DO I RESET MY PASSWORD?!'],
    ['How Do I Reset My Password', 'how do I reset my password'],
    ['Reset my password', 'Please reset my password, thanks!'],
    ['Reset my password', 'I want you to reset my password for me'],
    ['Where is our parcel', 'Can you tell me where my parcel is?'],
    ['Could you kindly reset my password?', 'reset my password'],
    ["I can't log in", 'I cannot log in.'],
    ["I can't log in", 'i cant log in'],
    ['I can’t log in', "I can't log in"],
    ["It doesn't work", 'It does not work'],
    ["What's the weather", 'What is the weather'],
    ['List the failing tests', 'List the failing test'],
    ['Send two emails', 'send 2 e-mails'],
    ['Set it to 30s', 'set it to 30 seconds'],
    ['pay $5', 'pay five dollars'],
    ['10% off', '10 percent off'],
    ['1,000 rows', '1000 rows'],
    ['Refund order #12', 'refund order 12'],
    ['twenty five names', 'twenty-five names'],
    ['two hundred and fifty rows', '250 rows'],
    ['3 findings by Monday', 'by Monday, three findings'],
    ['November 21 sales', 'sales on 21 November'],
    ['the weather in Berlin', 'weather in berlin?'],
    ['Weather of Berlin', "Berlin's weather"],
    ['Open "settings"', "open 'settings'"],
    ['Open `config.json`', 'open config.json'],
    ['Open “settings”', 'open settings'],
    ['Open "settings"', 'Open Settings'],
    ['Open `a.b`', 'Open a.b: now'],
    ['打开“设置”页', '打开设置页'],
    ['Create a pull request', 'Open a PR'],
    ['Explain SMART', 'explain specific measurable achievable relevant timebound'],
    ['Give me an example', 'Give me one example'],
    ['Show me 1 of them', 'Show me one of them'],
    ['Take 1 of them', 'Take 1 of them, a good one'],
    ['Compare `a.b`, `c.d`, `e.f`, `g.h`, `i.j` and `k.l`', 'compare a.b, c.d, e.f, g.h, i.j and k.l'],
    ['Read the file src/server.ts and summarise it.', 'Open src/server.ts, give me a short summary.'],
    ['Retry the API call, it timed out.', 'The request to the API timed out, try it again.'],
    ['Fix the failing test in auth.ts', 'The test in auth.ts is failing, please fix it'],
    ['Let me try the search again', 'I will search once more'],
    ['First, list the files.', 'List the files.'],
    ['I could not find the file.', 'The file was not found.'],
    ["Why don't you reset my password", 'reset my password'],
    ['**Reset** my password', '- reset my password'],
    ['the way from home to work', 'the way from my home to my work'],
    ['pay 5k', 'pay 5000'],
    ['3 GB of logs', '3gb of logs'],
    ['3 Gigabytes of logs', '3GB of logs'],
    ['run 5 KM', 'run 5 km'],
    ['WHO WROTE IT', 'who wrote it'],
    ['Who is the president of the US', 'the president of the US, who is it'],
    ['Give me 5 names!', 'give me 5 names'],
    ['# Task\n\n* **Reset** my password, please!', 'Task: reset my password please'],
    ['This is a long\nline of words', 'this is a long line\nof words'],
    ['Upgrade to v1.2.3', 'Upgrade to 1.2.3'],
    ['wake me at 09:30', 'wake me at 9:30'],
    ['sales on the second of November', 'sales on 2 November'],
    ['good morning, where is my order', 'where is my order'],
    ['Is the shop open or not?', 'Is the shop open?'],
    ['Explain the GDPR', 'Explain the general data protection regulation'],
    ['In users.ts rename "user"', 'In users.ts rename user'],
    ['运行`npm test`命令', '运行npm test命令'],
    ['Is it and/or? Reset my _password_', 'is it or? reset my password'],
    ['帮我查一下订单 4821 的状态。', '订单 4821 现在是什么状态？'],
    ['请重置密码', '重置密码，谢谢'],
    ['能不能帮我重置密码？', '请帮我重置密码'],
    ['有没有办法重置密码', '重置密码的办法'],
    ['等待３０秒', '等待30秒'],
    ['给我两个例子', '给我2个例子'],
    ['翻译成英文', '翻译成英语'],
    ['特别重要的文件', '重要的文件'],
    ['ßtraße öffnen', 'Öffnen ßtraße'],
    ['', ''],
    ['', '...'],
    ['Explain this sign:\n*', 'Explain this sign:\n* '],
  ])('"%s" may be "%s"', (one, other) => {
    expect(veto(one, other)).toBeNull();
    expect(veto(other, one)).toBeNull();
  });
});

const CLASSIFY = 'Classify the sentiment of this product review with one word in lower case:';

describe('a template filled in anew', () => {
  it.each([
    ['Create a backup of the database', 'Verify a backup of the database'],
    ['what is the recipe for soup', 'what is the recipe for salad'],
    ['Read the section on whales and summarise it', 'Read the section on seed banks and summarise it'],
    ['修改配置文件', '保存配置文件'],
    [`${CLASSIFY} the battery is terrible`, `${CLASSIFY} the screen is gorgeous`],
    [`${CLASSIFY} awful quality, broke soon`, `${CLASSIFY} superb quality, works perfectly`],
    [
      'Summarize the article about climate policy in three sentences',
      'Summarize the article about stock markets in three sentences',
    ],
    [
      'Read the file and list all functions that handle errors',
      'Read the file and list all classes that handle requests',
    ],
    [
      'Research the company and write a short report about its competitors',
      'Research the company and write a short report about its founders history',
    ],
    ['请把下面的句子翻译成客气的说法：猫睡觉', '请把下面的句子翻译成客气的说法：孩子在花园玩'],
  ])('is another question for every embedder: "%s" is not "%s"', (one, other) => {
    expect(veto(one, other)).toBe('one_word');
    expect(strictVeto(one, other)).toBe('one_word');
  });
});

describe('the strict gate', () => {
  it.each<[TextVeto, string, string]>([
    ['one_word', 'Merge the pull request', 'Merge the draft pull request'],
    ['one_word', 'how are you', 'what are you'],
    ['one_word', 'Do I need to verify my identity?', 'I need to verify my identity'],
    ['one_word', '配置文件', '新配置文件'],
    ['word_order', 'dog bites man', 'man bites dog'],
    ['word_order', '狗咬猫', '猫咬狗'],
    ['spelling', 'What does CO stand for?', 'What does Co stand for?'],
    ['spelling', 'How do I remove polish from a table?', 'How do I remove Polish from a table?'],
    ['spelling', 'explain aids to me', 'explain AIDS to me'],
    ['spelling', 'what is CO', 'What is co?'],
    ['spelling', "Let's eat, grandma", "Let's eat grandma"],
    ['spelling', 'Who said: Anna or Bob? Left early', 'Who said Anna or Bob left early'],
    ['spelling', '我们吃饭，奶奶', '我们吃饭奶奶'],
    ['spelling', 'they left - quickly', 'they left quickly'],
  ])('%s: "%s" is not "%s"', (reason, one, other) => {
    expect(strictVeto(one, other)).toBe(reason);
    expect(veto(one, other)).toBeNull();
  });

  it.each([
    ['How do I reset my password?', 'please how do i reset my passwords'],
    ['How Do I Reset My Password', 'how do I reset my password!'],
    ['WHAT IS CO', 'what is Co'],
    ['Who is Ada Lovelace?', 'who is ada lovelace'],
    ['the weather in Berlin', 'The weather in berlin?'],
    ['Hi, reset my password, please.', 'hi reset my password please'],
    ['red, green, and blue tables', 'Red, green and blue tables'],
    ['This is a long\nline, **of** words', 'this is a long. line, of words'],
    ['Polish my shoes', 'polish my shoes.'],
    ['Is my card on its way?', 'Hi, is my card on its way'],
    ['How do I reset my password?', 'I forgot my password, how can I change it?'],
    [
      'Run the test suite again and tell me which tests fail.',
      'Please rerun all tests and list the failing ones.',
    ],
    ['帮我查一下订单 4821 的状态。', '订单 4821 现在是什么状态？'],
    ['Check whether the nightly backup ran', 'Find out if the backup ran last, nightly'],
    ['Summarize the long article', 'Summarize the long article about climate policy'],
  ])('"%s" may be "%s"', (one, other) => {
    expect(strictVeto(one, other)).toBeNull();
  });
});

describe('the same words of content', () => {
  it.each([
    ['Increase the price to 20 percent.', 'Increase the price by 20 percent.'],
    ['Is the transfer to Anna done?', 'Is the transfer by Anna done?'],
    ['Is the letter for the bank?', 'Is the letter of the bank?'],
    ['Who invited the speaker?', 'Who was invited by the speaker?'],
    ['Which company bought Acme?', 'Which company was bought by Acme?'],
    ['What can I eat before surgery?', 'What must I eat before surgery?'],
    ['What should I do with the old key?', 'What could I do with the old key?'],
    ['Could you tell me what I can deduct?', 'Could you tell me what I have to deduct?'],
    ['What do we need to deduct?', 'What can we deduct?'],
    ['What will the fee be?', 'What was the fee?'],
    ['What do we earn?', 'What did we earn?'],
    ['What did we earn? It is for my report.', 'What do we earn? It is for my report.'],
    ['Why did the company sell the warehouse?', 'Why should the company sell the warehouse?'],
    ['When does the invoice get cancelled?', 'When must the invoice get cancelled?'],
    ['When do the nurses wash?', 'When would the nurses wash?'],
    ["What'll the fee be?", 'What was the fee?'],
    ['Where does the guard stand?', 'Where can the guard stand?'],
    ['Which dishes are cut?', 'Which dishes do cut?'],
    ['How did the nurse lift the patient?', 'How should the nurse lift the patient?'],
    ['Where do you deliver to?', 'Where will you deliver to?'],
    ['Can you delete the folder?', 'You can delete the folder.'],
    ['Can the tenant paint the walls?', 'The tenant can paint the walls.'],
    ['Is the key in the box?', 'Is the key on the box?'],
    ['Are these apples ripe?', 'Are those apples ripe?'],
    ['Is it safe to swim here?', 'Is it safe to swim there?'],
    ['Is it safe to swim here?', 'Is it safe to swim?'],
    ['Is the bath hot for a baby?', 'Is the bath too hot for a baby?'],
    ['Is the dose high?', 'Is the dose very high?'],
    ['How well does the baby sleep?', 'How does the baby sleep?'],
    ['Do few patients recover?', 'Do a few patients recover?'],
    ['Give me just the totals', 'Give me the totals'],
    ['Can I check in online?', 'Can I check online?'],
    ['How do I sign in to the app?', 'How do I sign the app?'],
    ['What do plants need?', 'What do plants like?'],
    ['What does the bank let a child do?', 'What does the bank do for a child?'],
    ['What are the dogs doing in the park?', 'What are the dogs in the park?'],
    ['Is the bridge being repaired?', 'Is the bridge repaired?'],
    ['How do you say please in French?', 'How do you say thanks in French?'],
    ['Did the police call?', 'Did the police call them?'],
  ])('ask for something else: "%s" is not "%s"', (one, other) => {
    expect([strictVeto(one, other), strictVeto(other, one)]).toEqual(['one_word', 'one_word']);
  });

  it.each([
    ['How do I reset my password?', 'How can I reset my password?'],
    ['How should I reset my password?', 'How could I reset my password?'],
    ['I want to reset my password', 'I need to reset my password'],
    ['I have to reset my password', 'I would like to reset my password, please'],
    ['Reset my password', 'Will you please reset my password for me?'],
    ['What do I have to deduct?', 'What must I deduct?'],
    ['Tell me what I could deduct', 'Could you tell me what I can deduct?'],
    ['What is the balance on my account?', "What's the balance on our account"],
    ['The weather in Berlin', 'weather Berlin'],
    ['Explain the error to me', 'Explain the error for us'],
    ['So how do I reset it, please?', 'hello, how do I just reset it thank you'],
    ["There's a fee, isn't there", 'There is a fee, is not there'],
    ["I'd like a refund, ok?", 'i want a refund'],
    ['Well, could you let me know what it costs', 'let us know what it costs'],
    ['Would you please tell me where my parcel is', 'Tell me where my parcel is'],
  ])('ask for the same: "%s" may be "%s"', (one, other) => {
    expect([strictVeto(one, other), strictVeto(other, one)]).toEqual([null, null]);
  });
});

describe('one answer for both', () => {
  it.each<[TextVeto, string, string]>([
    ['one_word', 'Can the tenant paint the walls?', 'Can the tenant paint the walls while under age?'],
    ['one_word', 'Summarize the long article', 'Summarize the long article about climate policy'],
    ['quotes', 'How many letters are in: hello, world', 'How many letters are in: hello world'],
    ['quotes', 'Reply with the exact text: hello world', 'Reply with the exact text: Hello world!'],
    [
      'quotes',
      'Say whether this is a question: are you open',
      'Say whether this is a question: are you open?',
    ],
    ['quotes', 'Is there a greeting in: hi, I am lost', 'Is there a greeting in: I am lost'],
    ['quotes', 'Summarise: you can delete the file', 'Summarise: can you delete the file'],
    ['quotes', '把下面这句翻译成英语：请坐', '把下面这句翻译成英语：坐'],
  ])('is none, %s: "%s" is not "%s"', (reason, one, other) => {
    expect([answerVeto(one, other), answerVeto(other, one)]).toEqual([reason, reason]);
    expect(answerVeto(one, one)).toBeNull();
  });

  it.each([
    ['Translate into French: hello world', 'Please, translate into french:  hello world '],
    ['Wake me at 10:30, please', 'wake me at 10:30'],
    ['Open https://example.org please', 'open https://example.org'],
    ['How do I reset my password?', 'How can I reset my password, please'],
  ])('may be given: "%s" and "%s"', (one, other) => {
    expect([answerVeto(one, other), answerVeto(other, one)]).toEqual([null, null]);
  });

  it('is refused for a pause that politeness hides', () => {
    expect(strictVeto("Please let's eat, grandma", "Let's eat grandma")).toBe('spelling');
  });
});

describe('texts of colons', () => {
  it('are not read to their end for each', () => {
    const trim = vi.spyOn(String.prototype, 'trim');
    const text = `${'a:'.repeat(1_000)}${' '.repeat(1_000)}`;
    answerVeto(`${text}b`, text);
    const chars = trim.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
    trim.mockRestore();
    expect(chars).toBeLessThan(4 * text.length);
  });
});

describe('texts past the bound', () => {
  const long = 'word '.repeat(VETO_TEXT_CHARS_MAX / 5 + 1);

  it('are compared letter by letter there', () => {
    expect(veto(`${long} the end`, `${long} the end.`)).toBe('code');
    expect(veto(`please ${long}`, long)).toBe('code');
  });

  it('are read before it', () => {
    expect(veto(`4${long}`, `5${long}`)).toBe('numbers');
    expect(veto(`A${long}`, `a${long}`)).toBeNull();
  });
});
