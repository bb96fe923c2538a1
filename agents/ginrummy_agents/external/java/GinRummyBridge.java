import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets a player written for the interface ginrummy.GinRummyPlayer of the AAAI-21 challenge play in
 * the arena, unchanged: java -cp FOLDER GinRummyBridge [--shared] CLASSPATH CLASS.
 *
 * <p>The player's classes are found by reflection on CLASSPATH, which must hold the challenge's
 * classes (ginrummy.Card among them) too. Each game that is in play has a class loader of its own,
 * because some players keep static state that belongs to the instance made last; when the game is
 * over, loader and instance serve the next game. The challenge's own cards and tables come from one
 * loader, as in the challenge (their code is compiled once), unless somebody has added static fields
 * to them. With --shared everything comes from one loader, which is faster still, and right for
 * players without static state.
 *
 * <p>A player that throws an exception, discards a card that it may not, or knocks with too much
 * loses the game: the bridge answers with an action that is not legal, or with a text that says what
 * happened, and the host makes a forfeit of it.
 */
public final class GinRummyBridge {
    private static final String RANKS = "A23456789TJQK";
    /** Suits in the order of the actions' numbers. */
    private static final String SUITS = "shdc";

    private static final String UTIL = "ginrummy.GinRummyUtil";
    /** Classes of the challenge without state of a game, and the names of their static fields. */
    private static final Map<String, List<String>> COMMON = Map.of(
            "ginrummy.GinRummyPlayer", List.of(),
            "ginrummy.Card", List.of("allCards", "rankNames", "suitNames", "isSuitRed", "NUM_RANKS",
                    "NUM_SUITS", "NUM_CARDS", "strCardMap", "strIdMap", "idStrMap"),
            UTIL, List.of("GOAL_SCORE", "GIN_BONUS", "UNDERCUT_BONUS", "MAX_DEADWOOD",
                    "DEADWOOD_POINTS", "cardBitstrings", "meldBitstrings",
                    "meldBitstringToCardsMap"));

    private static final long FLUSH_NANOSECONDS = 200_000_000;
    private static final int KNOCK = 52, DRAW = 104, TAKE = 105, PASS = 106, BIG_GIN = 107;

    /** The challenge's classes and methods, as one class loader has them. */
    private static final class Table {
        final Map<String, Object> cards = new HashMap<>();
        final Method startGame, willDraw, reportDraw, getDiscard, reportDiscard, finalMelds;
        final Method reportMelds, reportScores, reportLayoff, reportHand;
        final Class<?> cardClass;
        final Object player;

        Table(ClassLoader loader, String playerName) throws Exception {
            cardClass = loader.loadClass("ginrummy.Card");
            Object[] all = (Object[]) cardClass.getField("allCards").get(null);
            for (Object card : all) {
                // Players compare cards with ==, so only these objects are ever handed over.
                cards.put(name(card), card);
            }
            Class<?> type = loader.loadClass("ginrummy.GinRummyPlayer");
            startGame = type.getMethod("startGame", int.class, int.class,
                    java.lang.reflect.Array.newInstance(cardClass, 0).getClass());
            willDraw = type.getMethod("willDrawFaceUpCard", cardClass);
            reportDraw = type.getMethod("reportDraw", int.class, cardClass);
            getDiscard = type.getMethod("getDiscard");
            reportDiscard = type.getMethod("reportDiscard", int.class, cardClass);
            finalMelds = type.getMethod("getFinalMelds");
            reportMelds = type.getMethod("reportFinalMelds", int.class, ArrayList.class);
            reportScores = type.getMethod("reportScores", int[].class);
            reportLayoff = type.getMethod("reportLayoff", int.class, cardClass, ArrayList.class);
            reportHand = type.getMethod("reportFinalHand", int.class, ArrayList.class);
            Class<?> playerClass = loader.loadClass(playerName);
            if (!type.isAssignableFrom(playerClass)) {
                throw new IllegalArgumentException(playerName + " is not a ginrummy.GinRummyPlayer");
            }
            Constructor<?> maker = playerClass.getDeclaredConstructor();
            maker.setAccessible(true);
            player = maker.newInstance();
        }

        Object call(Method method, Object... arguments) throws Exception {
            try {
                return method.invoke(player, arguments);
            } catch (InvocationTargetException error) {
                Throwable cause = error.getCause();
                throw new PlayerError(method.getName() + " threw " + cause);
            }
        }

        Object card(String name) {
            return cards.get(name);
        }

        ArrayList<Object> list(String names) {
            ArrayList<Object> found = new ArrayList<>();
            for (String each : words(names)) {
                found.add(card(each));
            }
            return found;
        }
    }

    /** Loads a player's classes apart from those of other games; what all may share comes from one. */
    private static final class OwnLoader extends URLClassLoader {
        private final ClassLoader common;

        OwnLoader(URL[] classPath, ClassLoader common) {
            super(classPath);
            this.common = common;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            boolean ofAll = COMMON.containsKey(name) || name.startsWith(UTIL + "$");
            return ofAll ? common.loadClass(name) : super.findClass(name);
        }
    }

    /** What a player did wrong. */
    private static final class PlayerError extends Exception {
        PlayerError(String message) {
            super(message);
        }
    }

    /** One game that is in play. */
    private static final class Game {
        final Table table;
        int deal = -1;
        boolean faulty;
        /** The melds with which the player knocked in this deal. */
        Object melds;
        /** Whether the player has been asked for melds as the defender in this deal. */
        boolean defended;

        Game(Table table) {
            this.table = table;
        }
    }

    private final URL[] classPath;
    private final String playerName;
    /** The loader of what all games share. */
    private final ClassLoader common;
    /** Whether that is everything, and whether it is the challenge's own classes. */
    private final boolean shared, commonClasses;
    private final PrintStream out;
    /** Whether deals are settled by the melds that players lay down. */
    private boolean ownMelds;
    private final Map<Integer, Game> games = new HashMap<>();
    private final ArrayDeque<Table> idle = new ArrayDeque<>();

    private GinRummyBridge(URL[] classPath, String playerName, boolean shared, PrintStream out) {
        this.common = new URLClassLoader(classPath);
        this.shared = shared;
        this.commonClasses = commonClasses(common);
        this.classPath = classPath;
        this.playerName = playerName;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        boolean shared = arguments.length == 3 && arguments[0].equals("--shared");
        if (arguments.length != 2 && !shared) {
            System.err.println("usage: GinRummyBridge [--shared] CLASSPATH CLASS");
            System.exit(2);
        }
        String path = arguments[arguments.length - 2], name = arguments[arguments.length - 1];
        // Players print: what they print goes to standard error, the protocol keeps standard output.
        PrintStream out = new PrintStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16),
                false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        List<URL> urls = new ArrayList<>();
        for (String part : path.split(File.pathSeparator)) {
            urls.add(new File(part).toURI().toURL());
        }
        GinRummyBridge bridge = new GinRummyBridge(urls.toArray(new URL[0]), name, shared, out);
        bridge.idle.push(bridge.table()); // fails early
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        String line;
        long flushed = System.nanoTime();
        while ((line = in.readLine()) != null) {
            bridge.take(line);
            // Many answers at a time, but a slow player may not seem to be silent.
            if (!in.ready() || System.nanoTime() - flushed > FLUSH_NANOSECONDS) {
                out.flush();
                flushed = System.nanoTime();
            }
        }
    }

    private Table table() throws Exception {
        ClassLoader own = commonClasses
                ? new OwnLoader(classPath, common) : new URLClassLoader(classPath);
        return new Table(shared ? common : own, playerName);
    }

    /** Whether the challenge's classes are there as they were: nobody has added static state. */
    private static boolean commonClasses(ClassLoader loader) {
        try {
            for (Map.Entry<String, List<String>> each : COMMON.entrySet()) {
                Class<?> type = loader.loadClass(each.getKey());
                List<Member> members = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
                members.addAll(Arrays.asList(type.getDeclaredConstructors()));
                for (Field field : type.getDeclaredFields()) {
                    members.add(field);
                    boolean known = each.getValue().contains(field.getName());
                    if (Modifier.isStatic(field.getModifiers()) && !known) {
                        return false;
                    }
                }
                for (Member member : members) {
                    // What only the package may use, only one loader's classes may.
                    if ((member.getModifiers() & (Modifier.PUBLIC | Modifier.PRIVATE)) == 0) {
                        return false;
                    }
                }
            }
        } catch (ClassNotFoundException missing) {
            return false;
        }
        return true;
    }

    /** Act on one line. Host messages have a fixed form, so fields are found by their names. */
    private void take(String line) throws Exception {
        String type = text(line, "type");
        if (type.equals("hello")) {
            for (String size : new String[] {"num_ranks", "num_suits", "hand_size"}) {
                if (line.contains("\"" + size + "\":")) { // settings that differ from 52 and ten cards
                    System.err.println("players of the challenge know hands of ten from 52 cards only");
                    System.exit(2);
                }
            }
            ownMelds = text(line, "melds").equals("own");
            out.print("{\"type\":\"ready\",\"protocol\":1,\"name\":\"" + playerName + "\"}\n");
            return;
        }
        int number = number(line, "game");
        if (type.equals("game_over")) {
            Game game = games.remove(number);
            if (game != null && !game.faulty) {
                idle.push(game.table);
            }
            return;
        }
        Game game = games.get(number);
        if (game == null) {
            Table table = idle.isEmpty() ? table() : idle.pop();
            game = new Game(table);
            games.put(number, game);
        }
        try {
            catchUp(game, line);
            if (type.equals("move")) {
                int action = move(game, line);
                String melds = ownMelds && game.melds != null ? ",\"melds\":" + list(game.melds) : "";
                out.print("{\"game\":" + number + ",\"action\":" + action + melds + "}\n");
            } else if (type.equals("lay_down")) {
                String melds = defend(game, texts(line, "knocker_melds"));
                out.print("{\"game\":" + number + ",\"melds\":" + melds + "}\n");
            } else {
                dealOver(game, line);
            }
        } catch (PlayerError error) {
            game.faulty = true;
            if (!type.equals("deal_over")) {
                String said = error.getMessage().replaceAll("[^ -~]|[\"\\\\]", " ");
                out.print("{\"game\":" + number + ",\"action\":\"" + said + "\"}\n");
            }
        }
    }

    /** Tell the player what has happened since it was last asked. We are player 0. */
    private void catchUp(Game game, String line) throws Exception {
        Table table = game.table;
        int deal = number(line, "deal");
        if (deal != game.deal) {
            game.deal = deal;
            game.melds = null;
            game.defended = false;
            int starter = text(line, "dealer").equals("you") ? 1 : 0;
            String hand = text(line, "hand");
            Object cards = java.lang.reflect.Array.newInstance(table.cardClass, words(hand).length);
            int place = 0;
            for (String each : words(hand)) {
                java.lang.reflect.Array.set(cards, place++, table.card(each));
            }
            table.call(table.startGame, 0, starter, cards);
        }
        for (String event : texts(line, "events")) {
            String[] parts = words(event);
            boolean mine = parts[0].equals("you");
            switch (parts[1]) {
                case "take":
                    table.call(table.reportDraw, mine ? 0 : 1, table.card(parts[2]));
                    break;
                case "draw":
                    table.call(table.reportDraw, mine ? 0 : 1, mine ? table.card(parts[2]) : null);
                    break;
                case "discard":
                case "knock":
                    if (!mine) { // our own was reported when it was asked for
                        table.call(table.reportDiscard, 1, table.card(parts[2]));
                    }
                    break;
                default: // a pass, which is reported to nobody
            }
        }
    }

    private int move(Game game, String line) throws Exception {
        Table table = game.table;
        String phase = text(line, "phase");
        if (phase.equals("first_draw")) {
            return DRAW;
        }
        if (!phase.equals("discard")) {
            boolean take = (Boolean) table.call(table.willDraw, table.card(text(line, "upcard")));
            if (take) {
                return TAKE;
            }
            return phase.equals("draw") ? DRAW : PASS;
        }
        Object card = table.call(table.getDiscard);
        if (card == null) {
            throw new PlayerError("getDiscard returned null");
        }
        String name = name(card);
        if (!Arrays.asList(words(text(line, "hand"))).contains(name)) {
            throw new PlayerError("discarded " + name + ", which it does not hold");
        }
        int discard = SUITS.indexOf(name.charAt(1)) * 13 + RANKS.indexOf(name.charAt(0));
        table.call(table.reportDiscard, 0, table.card(name));
        game.melds = table.call(table.finalMelds);
        return game.melds == null ? discard : KNOCK + discard;
    }

    /** Report the knocker's melds, and return the melds with which the player defends, as JSON. */
    private String defend(Game game, List<String> knocked) throws Exception {
        Table table = game.table;
        game.defended = true;
        table.call(table.reportMelds, 1, lists(table, knocked));
        Object melds = table.call(table.finalMelds);
        if (melds == null) {
            throw new PlayerError("getFinalMelds returned null to the defender");
        }
        return list(melds);
    }

    /** Melds of the challenge's as a JSON list of texts. */
    private static String list(Object melds) throws PlayerError {
        StringBuilder text = new StringBuilder("[");
        for (Object meld : (Iterable<?>) melds) {
            text.append(text.length() > 1 ? ",\"" : "\"");
            String space = "";
            for (Object card : (Iterable<?>) meld) {
                if (card == null) {
                    throw new PlayerError("a meld with a card that is null");
                }
                text.append(space).append(name(card));
                space = " ";
            }
            text.append('"');
        }
        return text.append(']').toString();
    }

    private void dealOver(Game game, String line) throws Exception {
        Table table = game.table;
        String hand = text(line, "hand"), other = text(line, "opponent_hand");
        if (!other.isEmpty()) {
            int knocker = text(line, "knocker").equals("you") ? 0 : 1;
            List<String> melds = texts(line, "knocker_melds");
            List<String> defence = texts(line, "defender_melds");
            if (!game.defended) {
                table.call(table.reportMelds, knocker, lists(table, melds));
                if (knocker == 1) {
                    table.call(table.finalMelds);
                }
            }
            table.call(table.reportMelds, 1 - knocker, lists(table, defence));
            for (String layoff : layoffs(line)) {
                String[] parts = layoff.split("\\|");
                ArrayList<Object> meld = table.list(parts[1]);
                for (String each : words(parts[0])) {
                    table.call(table.reportLayoff, 1 - knocker, table.card(each),
                            new ArrayList<>(meld));
                    meld.add(table.card(each));
                }
            }
        }
        table.call(table.reportHand, 0, table.list(hand));
        if (!other.isEmpty()) {
            table.call(table.reportHand, 1, table.list(other));
        }
        int comma = line.indexOf(',', line.indexOf("\"scores\":["));
        int start = line.indexOf("\"scores\":[") + 10;
        int mine = Integer.parseInt(line.substring(start, comma).trim());
        int theirs = Integer.parseInt(line.substring(comma + 1, line.indexOf(']', comma)).trim());
        table.call(table.reportScores, (Object) new int[] {mine, theirs});
    }

    private static ArrayList<ArrayList<Object>> lists(Table table, List<String> melds) {
        ArrayList<ArrayList<Object>> found = new ArrayList<>();
        for (String meld : melds) {
            found.add(table.list(meld));
        }
        return found;
    }

    /** A card of the challenge's as text: its own toString is rank and suit, such as AC or 10H. */
    private static String name(Object card) {
        String text = card.toString();
        String rank = text.substring(0, text.length() - 1);
        char suit = Character.toLowerCase(text.charAt(text.length() - 1));
        return (rank.equals("10") ? "T" : rank) + suit;
    }

    private static String[] words(String text) {
        return text.isEmpty() ? new String[0] : text.split(" ");
    }

    /** The text behind a field's name; "" if it has none. */
    private static String text(String line, String field) {
        String key = "\"" + field + "\":\"";
        int start = line.indexOf(key);
        if (start < 0) {
            return "";
        }
        start += key.length();
        return line.substring(start, line.indexOf('"', start));
    }

    private static int number(String line, String field) {
        String key = "\"" + field + "\":";
        int start = line.indexOf(key) + key.length(), end = start;
        while (end < line.length() && "-0123456789".indexOf(line.charAt(end)) >= 0) {
            end++;
        }
        return Integer.parseInt(line.substring(start, end));
    }

    /** The texts of a list that holds nothing else. */
    private static List<String> texts(String line, String field) {
        List<String> found = new ArrayList<>();
        String key = "\"" + field + "\":[";
        int start = line.indexOf(key);
        if (start < 0) {
            return found;
        }
        start += key.length();
        int end = line.indexOf(']', start);
        for (String part : line.substring(start, end).split("\"")) {
            if (!part.isEmpty() && !part.equals(",")) {
                found.add(part);
            }
        }
        return found;
    }

    /** Lay-offs as cards|meld. */
    private static List<String> layoffs(String line) {
        List<String> found = new ArrayList<>();
        String key = "\"layoffs\":[";
        int start = line.indexOf(key) + key.length();
        while (line.charAt(start) == '[' || line.charAt(start) == ',') {
            start = line.indexOf('[', start) + 1;
            int end = line.indexOf(']', start);
            String[] parts = line.substring(start, end).split("\"");
            found.add(parts[1] + "|" + parts[3]);
            start = end + 1;
        }
        return found;
    }
}
